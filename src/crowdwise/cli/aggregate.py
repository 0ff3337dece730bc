"""`crowdwise aggregate`: the items' labels and the annotators' quality, from the labels alone."""

from typing import Annotated, Any

import typer

from crowdwise.cli.shares import consensus_in_shares, in_shares
from crowdwise.cli.tables import (
    Annotator,
    AsJson,
    Classes,
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


def aggregate(
    table: Table,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="majority, weighted-majority, dawid-skene, grouped-dawid-skene, one-coin, glad, "
            "mace; or all, to compare them by --truth.",
        ),
    ] = "dawid-skene",
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the consensus: .csv, .parquet, or - for stdout."),
    ] = None,
    annotators_out: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a row per annotator: .csv or .parquet."),
    ] = None,
    truth: Truth = None,
    settings: Settings = None,
    as_json: AsJson = False,
    file_format: FileFormat = None,
    format_option: FormatOption = None,
    item: Item = None,
    annotator: Annotator = None,
    label: Label = None,
    classes: Classes = None,
    truth_item: TruthItem = None,
    truth_label: TruthLabel = None,
    on_conflict: OnConflict = "error",
) -> None:
    """Infer the items' true labels without features, and tell good annotators from bad.

    crowdwise aggregate labels.csv --method dawid-skene --out consensus.csv
    """
    import json
    import sys

    import crowdwise
    from crowdwise.aggregate import METHODS
    from crowdwise.aggregate.export import csv_text, kind_of_file, write_frame
    from crowdwise.aggregate.summary import summarise
    from crowdwise.annotations.known import truth_codes
    from crowdwise.annotations.truth import read_truth

    if method == "all" and (truth is None or out or annotators_out or settings):
        raise InputError(
            "--method all compares the methods: give --truth, and neither --out, "
            "--annotators-out nor --set"
        )
    for path in (out, annotators_out):
        if path not in (None, "-"):
            kind_of_file(path)  # a name that cannot be written is refused before the work
    if annotators_out == "-":
        raise InputError("--annotators-out writes to a file only; name a .csv or .parquet file")
    if out == "-" and as_json:
        raise InputError("--out - and --json would both write to standard output; choose one")
    if in_shares():
        columns = {"format": file_format, "item": item, "annotator": annotator, "label": label}
        found = consensus_in_shares(
            table,
            method,
            out,
            annotators_out,
            truth,
            settings_of(settings),
            {**columns, "classes": classes, "on_conflict": on_conflict},
            {"item": truth_item, "label": truth_label},
        )
        if found is not None:
            tell({"table": table, **found[0]}, found[1], as_json, [out, annotators_out])
        return
    annotations = read_table(
        table, file_format, format_option, item, annotator, label, on_conflict, classes, truth
    )
    known = None
    if truth is not None:
        known = truth_codes(
            annotations,
            read_truth(truth, annotations=annotations, item=truth_item, label=truth_label),
        )
    if method == "all":
        rows = [
            (name, summarise(crowdwise.aggregate(annotations, name), annotations, known))
            for name in METHODS
        ]
        if as_json:
            sys.stdout.write(json.dumps({"table": table, "methods": dict(rows)}, indent=2) + "\n")
        else:
            show_all(rows, console_on(sys.stdout))
        return

    consensus = crowdwise.aggregate(annotations, method, **settings_of(settings))
    if annotators_out is not None:
        write_frame(consensus.annotators, annotators_out)
    if out == "-":
        typer.echo(csv_text(consensus.to_frame()).encode(), nl=False)
    elif out is not None:
        write_frame(consensus.to_frame(), out)
    summary = {"table": table, **summarise(consensus, annotations, known)}
    tell(summary, consensus.annotators, as_json, [out, annotators_out])


def tell(
    summary: dict[str, Any], annotators: Any, as_json: bool, written: list[str | None]
) -> None:
    """The summary, for programs or for people, and where what was written."""
    import json
    import sys

    if as_json:
        sys.stdout.write(json.dumps(summary, indent=2) + "\n")
        return
    console = console_on(sys.stderr if "-" in written else sys.stdout)
    show(summary, annotators, console)
    for path in written:
        if path not in (None, "-"):
            console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


def show(summary: dict[str, Any], annotators: Any, console: Any) -> None:
    """The summary for people: what was read, how it converged, the best and worst annotators."""
    from rich.table import Table

    counted = "{labels:,} labels on {items:,} items by {annotators:,} annotators, {classes} classes"
    lines = [counted.format(**summary), convergence(summary)]
    lines.append(f"{summary['labels_like_consensus']:.1%} of the labels are the consensus")
    if summary.get("accuracy") is not None:
        asked = summary["items_with_truth"]
        lines.append(f"accuracy {summary['accuracy']:.2%} on {asked:,} items with truth")
    for line in lines:
        console.print(line, markup=False, highlight=False)
    ranked = annotators.filter(annotators["labels"] > 0).sort(
        ["cost", "labels", "annotator"], descending=[False, True, False]
    )
    few = ranked if len(ranked) <= 10 else ranked[:5].vstack(ranked[-5:])
    console.print(
        "annotators by cost (0: their labels inform fully, 1: not at all)", highlight=False
    )
    grid = Table()
    for column in ("annotator", "labels", "accuracy", "corrected", "cost"):
        grid.add_column(column, justify="left" if column == "annotator" else "right")
    for place, row in enumerate(few.iter_rows(named=True)):
        if len(ranked) > 10 and place == 5:
            grid.add_row(f"… {len(ranked) - 10:,} more …", "", "", "", "")
        numbers = (row[name] for name in ("accuracy", "corrected_accuracy", "cost"))
        name = str(row["annotator"]).replace("[", r"\[")
        grid.add_row(name, f"{row['labels']:,}", *(f"{number:.3f}" for number in numbers))
    console.print(grid)


def convergence(summary: dict[str, Any]) -> str:
    """`dawid-skene: converged after 9 steps, objective -1234.5 → -1200.1 ▁▅▇█`."""
    steps = summary["steps"]
    if steps == 1:
        return f"{summary['method']}: one step"
    ended = "converged" if summary["converged"] else "stopped, not converged,"
    text = f"{summary['method']}: {ended} after {steps} steps"
    path = summary["objective"]
    if not path:
        return text
    low, high = path[0], max(path)
    shown = path[:: -(-len(path) // 20)]  # twenty marks at most
    marks = [round(7 * (value - low) / (high - low)) if high > low else 7 for value in shown]
    spark = "".join("▁▂▃▄▅▆▇█"[min(max(mark, 0), 7)] for mark in marks)
    return f"{text}, objective {path[0]:,.1f} → {path[-1]:,.1f} {spark}"


def show_all(rows: list[tuple[str, dict[str, Any]]], console: Any) -> None:
    """The methods beside each other, the most accurate first."""
    from rich.table import Table

    asked = rows[0][1]["items_with_truth"]
    console.print(f"accuracy of the consensus on {asked:,} items with truth", highlight=False)
    grid = Table()
    for column in ("method", "accuracy", "steps"):
        grid.add_column(column, justify="left" if column == "method" else "right")
    for name, summary in sorted(rows, key=lambda row: -(row[1]["accuracy"] or 0.0)):
        accuracy = summary["accuracy"]
        shown = "–" if accuracy is None else f"{accuracy:.2%}"
        more = "" if summary["converged"] else "+"
        grid.add_row(name, shown, f"{summary['steps']}{more}")
    console.print(grid)
