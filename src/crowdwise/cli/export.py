"""`crowdwise export`: a trained run as one file that other programs run."""

from typing import Annotated

import typer

from crowdwise.cli.predict import RunFolder
from crowdwise.errors import InputError


def export(
    run: RunFolder,
    to: Annotated[
        str, typer.Option("--to", metavar="FORM", help="torch (.pt2 of torch.export), or onnx.")
    ] = "torch",
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="The file to write; model.pt2 or model.onnx in RUN if not given."
        ),
    ] = None,
) -> None:
    """Write a run's classifier as one file: features in, class probabilities out.

    crowdwise export run --to onnx --out model.onnx

    Everything is inside, standardisation and the mean over a pair's softmaxes; any number of items
    at a time. The classes are in the file's metadata, in the order of the probabilities.
    """
    from pathlib import Path

    endings = {"torch": ".pt2", "onnx": ".onnx"}
    if to not in endings:
        raise InputError(f"--to {to}: there is no such form; choose torch or onnx")
    path = Path(run) / f"model{endings[to]}" if out is None else Path(out)
    if path.suffix.lower() != endings[to]:
        raise InputError(f"{path}: a file for {to} ends in {endings[to]}; name it so")

    from crowdwise.engine.export import to_onnx, to_torch
    from crowdwise.estimator import load

    classifier = load(run)
    write = to_torch if to == "torch" else to_onnx
    write(classifier.model_, classifier.shape_.input, classifier.classes_.tolist(), path)
    typer.echo(f"wrote {path} ({path.stat().st_size / 1e6:.1f} MB)")
