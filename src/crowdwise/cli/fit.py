"""`crowdwise fit`: from a crowd's table and a feature file to a run folder."""

from typing import TYPE_CHECKING, Annotated

import typer

from crowdwise.cli.tables import (
    Annotator,
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

if TYPE_CHECKING:
    from crowdwise.results.run import Run


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
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with the run in --out that was cut off, if any."),
    ] = False,
    minutes: Annotated[
        float,
        typer.Option(
            "--checkpoint-minutes",
            metavar="N",
            help="Keep the state after so many minutes; 0: after every batch.",
        ),
    ] = 5.0,
    checkpoint_epochs: Annotated[
        int | None,
        typer.Option(metavar="N", help="Keep the state after so many epochs as well."),
    ] = None,
    tensorboard: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Write TensorBoard events here (extra tensorboard)."),
    ] = None,
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
    """Train a classifier on a crowd's labels, and say whom in the crowd to trust.

    crowdwise fit labels.csv --features features.csv --out run

    A run that was cut off goes on with the same command and --resume, to the same result.
    """
    import sys
    from contextlib import ExitStack
    from pathlib import Path

    crowd = read_table(
        table, file_format, format_option, item, annotator, label, on_conflict, classes, truth
    )
    chosen = settings_of(settings, taken={"method", "net", "epochs", "seed"})

    # torch takes seconds to load: what is wrong with the table is said before
    from crowdwise.annotations.truth import read_truth
    from crowdwise.batches.features import read_features
    from crowdwise.engine.checkpoint import Checkpoints
    from crowdwise.engine.progress import show_epochs
    from crowdwise.engine.tensorboard import event_files
    from crowdwise.engine.trouble import Diverged
    from crowdwise.estimator import CrowdClassifier
    from crowdwise.report.training import show_settings, show_trained
    from crowdwise.results.run import Run

    described = read_features(features, items, item)
    classifier = CrowdClassifier(method, net, epochs, seed, **chosen)
    start = classifier._prepare(described.x, crowd, described.items_for(crowd))
    known = None
    if truth is not None:  # of any item with features, labelled or not
        items_known = start.data.annotations
        known = read_truth(truth, annotations=items_known, item=truth_item, label=truth_label)
    checkpoints = Checkpoints(Run(Path(out)).checkpoint, minutes, checkpoint_epochs)
    begin = Run.resume if resume else Run.create
    run = begin(out, classifier._describe())
    if run.done:  # cut off after training, or run twice
        finish(run)
        typer.echo(f"{out} is finished already; open {out}/report.html")
        return
    console = console_on(sys.stdout)
    show_settings(classifier.settings_, console)
    with ExitStack() as stack:
        listeners = [run.log, stack.enter_context(show_epochs(classifier.settings_["epochs"]))]
        if tensorboard is not None:
            listeners.append(stack.enter_context(event_files(tensorboard, anew=resume)))

        def on_epoch(record: dict[str, object]) -> None:
            for tell in listeners:
                tell(record)

        try:
            with checkpoints.stopping():
                classifier._train(start, on_epoch, checkpoints)
            classifier._write(run)
            finish(run)
        except Diverged:
            checkpoints.remove()  # its last state is no place to go on from
            raise
        except KeyboardInterrupt:
            done = f"interrupted after {len(run.history)} epochs; "
            how = (
                f"the state is in {run.checkpoint}: the same command with --resume goes on from it"
                if checkpoints.file.is_file()
                else f"{out} holds their metrics but no model, and the same command starts anew"
            )
            typer.echo(f"crowdwise: {done}{how}", err=True)
            raise typer.Exit(130) from None
    show_trained(classifier.consensus_, classifier.annotators_, known, out, console)


def finish(run: "Run") -> None:
    """What follows the last result: the report, and no state to go on from any more."""
    from shutil import rmtree

    from crowdwise.files import sweep
    from crowdwise.report.html import write_report

    sweep(run.folder)
    if not (run.folder / "report.html").is_file():
        write_report(run.folder)
    rmtree(run.checkpoint, ignore_errors=True)
