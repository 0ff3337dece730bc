"""`crowdwise simulate`: a synthetic crowd of the paper's kind, streamed to a file."""

from typing import Annotated

import typer

from crowdwise.cli.tables import AsJson
from crowdwise.errors import InputError


def simulate(
    out: Annotated[
        str, typer.Option(metavar="FILE", help="Where to write: .csv, .parquet, or - for stdout.")
    ],
    truth: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="True labels: .csv or .parquet (item, label), .npy, or - for stdin.",
        ),
    ] = None,
    items: Annotated[
        int | None,
        typer.Option(metavar="N", help="Make up a uniform truth of this many items instead."),
    ] = None,
    classes: Annotated[
        int | None,
        typer.Option(metavar="N", help="Classes of the made-up truth, or of a truth in 0..C-1."),
    ] = None,
    case: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="IND-I..IV, COR-I..IV, or patterns: 'sym-0.3 pair-0.6 dummy copy'."
        ),
    ] = "IND-I",
    k: Annotated[
        int, typer.Option("-k", "--labels-per-item", metavar="N", help="Labels per item.")
    ] = 3,
    seed: Annotated[int, typer.Option(metavar="N", help="The one source of randomness.")] = 0,
    per_pattern: Annotated[int, typer.Option(metavar="N", help="Annotators of each pattern.")] = 50,
    tail: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Who labels how much: paper, heavy, labelme, music, cifar10n."
        ),
    ] = "paper",
    beta: Annotated[
        tuple[float, float] | None, typer.Option(help="Weights from Beta(A, B) instead of a tail.")
    ] = None,
    difficulty: Annotated[
        float | None,
        typer.Option(metavar="P", help="Mean probability that the item itself misleads, 0 to 1."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Item vectors (.npy): hard items pass for what they resemble."
        ),
    ] = None,
    item_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The item column of the --truth file.")
    ] = None,
    label_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The label column of the --truth file.")
    ] = None,
    truth_out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the truth here: .csv, .parquet or .npy."),
    ] = None,
    annotators_out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write annotator, pattern, reference, weight here (.csv)."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a crowd: who labels what, and how they err, by the paper's cases or your own.

    crowdwise simulate --truth labels.csv --case IND-I -k 3 --seed 0 --out crowd.csv
    """
    import json
    import warnings

    from crowdwise.simulate.plan import plan
    from crowdwise.simulate.truth import load_array, made_up, read_truth, write_truth
    from crowdwise.simulate.write import write_annotators, write_crowd

    if (truth is None) == (items is None):
        raise InputError("give either --truth FILE, or --items N with --classes C")
    if seed < 0:
        raise InputError(f"--seed {seed} is negative; use 0 or more")
    if truth is not None:
        known = read_truth(truth, item_column, label_column)
    elif items is not None and classes is not None:
        known = made_up(items, classes, seed)
    else:
        raise InputError("--items needs --classes: how many classes the made-up truth has")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        crowd = plan(
            known.label,
            case,
            k,
            seed,
            n_per_pattern=per_pattern,
            beta=beta,
            tail=tail,
            difficulty=difficulty,
            features=None if features is None else load_array(features),
            n_classes=classes,
        )
    for note in said:
        typer.echo(f"note: {note.message}", err=True)
    if truth_out is not None:
        write_truth(truth_out, known)
    if annotators_out is not None:
        write_annotators(crowd, annotators_out)
    tally = write_crowd(crowd, out, known.item_ids)
    summary = {
        "case": case,
        "k": k,
        "seed": seed,
        "items": tally.n_items,
        "annotators": tally.n_annotators,
        "labels": tally.n_labels,
        "nr1": tally.nr1,
        "nr2": tally.nr2,
        "annotators_up_to_20_labels": tally.annotators_up_to_20,
    }
    if as_json:
        typer.echo(json.dumps(summary), err=out == "-")
        return
    typer.echo(
        f"{tally.n_labels:,} labels on {tally.n_items:,} items by {tally.n_annotators:,} annotators"
        f" ({case}, k = {k}, seed {seed}): {tally.nr2:.1%} of the labels are wrong,"
        f" {tally.nr1:.1%} of the items have no right one",
        err=True,
    )
