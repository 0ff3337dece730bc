"""`crowdwise fit`: from a crowd's table and a feature file to a run folder."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdwise.cli.tables import (
    Annotator,
    Classes,
    Embed,
    Features,
    FeaturesItem,
    FileFormat,
    FormatOption,
    Item,
    Items,
    Label,
    OnConflict,
    Settings,
    Table,
    TextColumns,
    TruthItem,
    TruthLabel,
    console_on,
    read_table,
    settings_of,
    size_of,
)
from crowdwise.errors import InputError

if TYPE_CHECKING:
    from crowdwise.results.run import Run


def fit(
    table: Table,
    features: Features,
    out: Annotated[
        str, typer.Option(metavar="FOLDER", help="The run folder to write; must be new.")
    ],
    items: Items = None,
    features_item: FeaturesItem = None,
    image_size: Annotated[
        str | None,
        typer.Option(
            metavar="PIXELS",
            help="Scale images, as 64 or HEIGHTxWIDTH; those of at most 128 pixels stay as they "
            "are if not given, others become 64.",
        ),
    ] = None,
    embed: Embed = None,
    text: TextColumns = None,
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
    truth: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="True labels, one row per item: to measure; to fit only with --gold.",
        ),
    ] = None,
    gold: Annotated[
        bool,
        typer.Option(
            "--gold",
            help="Trust --truth in training and consensus, as a perfect annotator's labels, "
            "instead of measuring by it.",
        ),
    ] = False,
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
    devices: Annotated[
        int,
        typer.Option(metavar="N", help="Processes of this machine that share every batch."),
    ] = 1,
    nodes: Annotated[
        int,
        typer.Option(metavar="N", help="Machines that do so, each started with its NODE_RANK."),
    ] = 1,
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

    if gold and truth is None:
        raise InputError("--gold needs the answers that are certain; name their file with --truth")
    size = size_of(image_size)
    crowd = read_table(
        table, file_format, format_option, item, annotator, label, on_conflict, classes, truth
    )
    chosen = settings_of(settings, taken={"method", "net", "epochs", "seed"})

    # torch takes seconds to load: what is wrong with the table is said before
    from crowdwise.annotations.align import aligned
    from crowdwise.annotations.truth import read_truth
    from crowdwise.batches.describe import describe
    from crowdwise.engine.checkpoint import Checkpoints
    from crowdwise.engine.devices import is_first, make_fabric
    from crowdwise.engine.progress import show_epochs
    from crowdwise.engine.tensorboard import event_files
    from crowdwise.engine.trouble import TRY, Diverged
    from crowdwise.estimator import CrowdClassifier
    from crowdwise.report.training import show_settings, show_trained
    from crowdwise.results.run import Run

    known = None
    described = describe(
        features,
        items,
        features_item or item,
        strict=features_item is not None,
        known=crowd.item_ids.tolist(),
        size=size,
        embed=embed,
        text=text,
    )
    ids = described.items_for(crowd)
    if truth is not None:  # of any item with features, labelled or not
        everything = aligned(crowd, len(described.x), ids)
        known = read_truth(truth, annotations=everything, item=truth_item, label=truth_label)
    classifier = CrowdClassifier(method, net, epochs, seed, **chosen)
    start = classifier._prepare(described.x, crowd, ids, known if gold else None)
    constant, width = described.constant(), start.data.shape.input[0]
    if len(constant) == width:
        raise InputError(
            f"{features}: every item has the same features; there is nothing to tell items apart by"
        )
    checkpoints = Checkpoints(Run(Path(out)).checkpoint, minutes, checkpoint_epochs)
    fabric = make_fabric(start.model.options.precision, start.data.device.type, devices, nodes)
    if fabric.world_size > 1 and "-" in (table, truth):
        raise InputError("standard input (-) is read by one process only; name a file")
    if not is_first():  # the first process speaks and writes, the others compute
        with checkpoints.stopping():
            classifier._train(start, checkpoints=checkpoints, fabric=fabric)
        return
    begin = Run.resume if resume else Run.create
    said = {"embed": embed, "text": text, "gold": fingerprint(known) if gold else None}
    given = {name: value for name, value in said.items() if value is not None}
    run = begin(out, {**classifier._describe(), **given})
    if run.done:  # cut off after training, or run twice
        finish(run)
        typer.echo(f"{out} is finished already; open {out}/report.html")
        return
    console = console_on(sys.stdout)
    if described.note:
        console.print(described.note, markup=False, highlight=False, soft_wrap=True)
    if constant:
        more = f" and {len(constant) - 5} more" if len(constant) > 5 else ""
        typer.echo(
            f"crowdwise: {features}: {len(constant)} of {width} columns are the "
            f"same for every item and tell nothing: {', '.join(constant[:5])}{more}",
            err=True,
        )
    named = {"method": method != "ccc", "net": net != "auto", "epochs": epochs is not None}
    given_names = {*chosen, *(name for name, by_hand in named.items() if by_hand)}
    sizes = sizes_of(start.data)
    show_settings(classifier.settings_, method, net, given_names, sizes, console)
    with ExitStack() as stack:
        listeners = [run.log, stack.enter_context(show_epochs(classifier.settings_["epochs"]))]
        if tensorboard is not None:
            listeners.append(stack.enter_context(event_files(tensorboard, anew=resume)))

        def on_epoch(record: dict[str, object]) -> None:
            for tell in listeners:
                tell(record)

        try:
            with checkpoints.stopping():
                classifier._train(start, on_epoch, checkpoints, fabric)
            if described.words is not None:
                described.words.save(run.folder)
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
    if skipped := sum(int(epoch.get("skipped_corrections", 0)) for epoch in classifier.history_):
        typer.echo(
            f"crowdwise: {skipped} corrections were left out, as their meta gradient was not "
            f"finite; metrics.jsonl has the epochs. If they are many: {TRY}",
            err=True,
        )
    show_trained(classifier.consensus_, classifier.annotators_, known, gold, out, console)


def finish(run: "Run") -> None:
    """What follows the last result: the report, and no state to go on from any more."""
    from shutil import rmtree

    from crowdwise.files import sweep
    from crowdwise.report.html import write_report

    sweep(run.folder)
    if not (run.folder / "report.html").is_file():
        write_report(run.folder)
    rmtree(run.checkpoint, ignore_errors=True)


def sizes_of(data: Any) -> Any:
    """What was read, as the terminal tells it."""
    from crowdwise.report.training import Sizes

    crowd, heard = data.annotations, len(set(data.annotator.tolist()))
    return Sizes(
        len(data), len(data.labelled), len(crowd), heard, crowd.n_classes, data.shape.input
    )


def fingerprint(answers: Mapping[Any, Any] | None) -> str:
    """How many certain answers a run was trained on, and a hash of them: not the answers."""
    from hashlib import sha256

    rows = sorted(f"{item!r} {answer!r}" for item, answer in (answers or {}).items())
    return f"{len(rows)} answers, {sha256(chr(10).join(rows).encode()).hexdigest()[:12]}"
