"""`crowdwise predict`: a trained run's answer for items it has or has not seen."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crowdwise.cli.tables import Embed, FeaturesItem, Items, TextColumns
from crowdwise.errors import InputError

if TYPE_CHECKING:
    from crowdwise.batches.features import Features as Described
    from crowdwise.estimator import CrowdClassifier

RunFolder = Annotated[
    str, typer.Argument(metavar="RUN", help="A finished run folder of `crowdwise fit`.")
]


def predict(
    run: RunFolder,
    features: Annotated[
        str,
        typer.Argument(metavar="PATH", help="What describes the items, in a form that fit takes."),
    ],
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Where to: .csv or .parquet (item, label, probabilities), .npy (probabilities "
            "alone), or - for standard output.",
        ),
    ] = "-",
    items: Items = None,
    features_item: FeaturesItem = None,
    embed: Embed = None,
    text: TextColumns = None,
) -> None:
    """Predict the classes of items with a trained run: no labels are needed.

    crowdwise predict run new.csv --out predictions.csv

    Images and texts are treated as they were in training. A sentence encoder has to be named
    again with --embed: a run folder never decides what is loaded.
    """
    import numpy as np
    import polars as pl

    from crowdwise.aggregate.export import csv_text, write_frame
    from crowdwise.annotations.conversions import series
    from crowdwise.estimator import load
    from crowdwise.files import whole

    kind = Path(out).suffix.lower()
    if out != "-" and kind not in (".csv", ".parquet", ".npy"):
        raise InputError(f"{out}: the name says no known format; end it in .csv, .parquet or .npy")
    classifier = load(run)
    described = described_for(run, classifier, features, items, features_item, embed, text)
    try:
        proba = classifier.predict_proba(described.x)
    except InputError as error:
        raise InputError(f"{features}: {error}") from error
    best = proba.argmax(axis=1)
    names = series(classifier.classes_)
    ids = range(len(proba)) if described.items is None else described.items
    frame = pl.DataFrame(
        {
            "item": pl.Series(list(ids)),
            "label": names.gather(best),
            "probability": proba[np.arange(len(best)), best],
            **{f"p_{name}": proba[:, c] for c, name in enumerate(classifier.classes_.tolist())},
        }
    )
    if out == "-":
        typer.echo(csv_text(frame).encode(), nl=False)
        return
    if kind == ".npy":
        with whole(out) as temporary, temporary.open("wb") as file:
            np.save(file, proba)
    else:
        write_frame(frame, out)
    typer.echo(f"wrote {out}: {len(frame):,} items", err=True)


def described_for(
    run: str,
    classifier: "CrowdClassifier",
    features: str,
    items: str | None,
    item: str | None,
    embed: str | None,
    text: list[str] | None,
) -> "Described":
    """Features read as those of the run's training were."""
    from crowdwise.batches.describe import describe
    from crowdwise.batches.text import WORDS, WordVectors
    from crowdwise.results.run import Run

    config, shape = Run.open(run).config, classifier.shape_.input
    trained, columns = config.get("embed"), text or config.get("text")
    if trained is None and embed is not None:
        raise InputError(f"{run}: was trained on numbers or images, not on texts; drop --embed")
    if trained not in (None, WORDS) and embed != trained:
        raise InputError(
            f"{run}: was trained on texts as {trained!r} encodes them; name it with --embed"
        )
    images = Path(features).is_dir()
    if images and (len(shape) != 3 or shape[0] not in (1, 3)):
        size = "×".join(map(str, shape))
        raise InputError(f"{features}: is a folder; {run} was trained on items of {size} numbers")
    return describe(
        features,
        items,
        item,
        strict=item is not None,
        known=classifier.consensus_["item"].to_list(),
        size=(shape[1], shape[2]) if images else None,
        mode=("L" if shape[0] == 1 else "RGB") if images else None,
        embed=trained,
        text=columns,
        words=WordVectors.load(Path(run)) if trained == WORDS else None,
    )
