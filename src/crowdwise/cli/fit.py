"""`crowdwise fit`: from a crowd's table and a feature file to a run folder."""

from typing import Annotated

import typer

from crowdwise.cli.tables import (
    Annotator,
    FileFormat,
    FormatOption,
    Item,
    Label,
    OnConflict,
    Settings,
    Table,
    Truth,
    TruthItem,
    TruthLabel,
    console_on,
    read_table,
    settings_of,
)
from crowdwise.errors import InputError


def fit(
    table: Table,
    features: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="What describes the items: .npy, .npz (x, items), or a .csv/.parquet with a "
            "column naming the item.",
        ),
    ],
    out: Annotated[
        str, typer.Option(metavar="FOLDER", help="The run folder to write; must be new.")
    ],
    items: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Item ids of a matrix's rows, one per line (or .npy)."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(metavar="NAME", help="How to learn from the crowd; see `crowdwise methods`."),
    ] = "ccc",
    net: Annotated[
        str,
        typer.Option(metavar="NAME", help="The classifier: auto, linear, mlp, cnn, resnet18, …"),
    ] = "auto",
    epochs: Annotated[
        int | None,
        typer.Option(metavar="N", help="Passes over the data; chosen from its size if not given."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The one source of randomness.")] = 0,
    settings: Settings = None,
    truth: Truth = None,
    tensorboard: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Write TensorBoard events here (extra tensorboard)."),
    ] = None,
    file_format: FileFormat = None,
    format_option: FormatOption = None,
    item: Item = None,
    annotator: Annotator = None,
    label: Label = None,
    truth_item: TruthItem = None,
    truth_label: TruthLabel = None,
    on_conflict: OnConflict = "error",
) -> None:
    """Train a classifier on a crowd's labels, and say whom in the crowd to trust.

    crowdwise fit labels.csv --features features.csv --out run
    """
    import sys
    from contextlib import ExitStack

    crowd = read_table(table, file_format, format_option, item, annotator, label, on_conflict)
    chosen = settings_of(settings, taken={"method", "net", "epochs", "seed"})

    # torch takes seconds to load: what is wrong with the table is said before
    from crowdwise.annotations.truth import read_truth
    from crowdwise.batches.features import read_features
    from crowdwise.engine.progress import show_epochs
    from crowdwise.engine.tensorboard import event_files
    from crowdwise.estimator import CrowdClassifier
    from crowdwise.report.html import write_report
    from crowdwise.report.training import show_settings, show_trained
    from crowdwise.results.run import Run

    described = read_features(features, items, item)
    classifier = CrowdClassifier(method, net, epochs, seed, **chosen)
    start = classifier._prepare(described.x, crowd, described.items_for(crowd))
    known = None
    if truth is not None:  # of any item with features, labelled or not
        items_known = start.data.annotations
        known = read_truth(truth, annotations=items_known, item=truth_item, label=truth_label)
    run = Run.create(out, classifier._describe())
    console = console_on(sys.stdout)
    show_settings(classifier.settings_, console)
    with ExitStack() as stack:
        listeners = [run.log, stack.enter_context(show_epochs(classifier.settings_["epochs"]))]
        if tensorboard is not None:
            listeners.append(stack.enter_context(event_files(tensorboard)))

        def on_epoch(record: dict[str, object]) -> None:
            for tell in listeners:
                tell(record)

        try:
            classifier._train(start, on_epoch)
        except KeyboardInterrupt:
            raise InputError(
                f"interrupted after {len(run.history)} epochs; {out} holds their metrics but no "
                "model, and the same command starts anew"
            ) from None
    classifier._write(run)
    write_report(out)
    show_trained(classifier.consensus_, classifier.annotators_, known, out, console)
