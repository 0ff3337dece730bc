"""A trained method as one file that runs without crowdwise: torch.export's, or ONNX."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from crowdwise.errors import InputError
from crowdwise.files import whole
from crowdwise.methods.base import Method

INPUT, OUTPUT = "x", "probabilities"


class Predictor(nn.Module):
    """Features (N, ...) in, the mean of the models' softmaxes (N, C) out."""

    def __init__(self, method: Method) -> None:
        super().__init__()
        self.method = method

    def forward(self, x: Tensor) -> Tensor:
        return self.method.predict(x)


def to_torch(method: Method, shape: tuple[int, ...], classes: Sequence[Any], path: Path) -> None:
    """Write a .pt2: `torch.export.load(path).module()(x)` gives the probabilities.

    The classes and the shape of an item are extra files in it, as JSON.
    """
    program = _exported(method, shape)
    about = {"classes.json": json.dumps(list(classes)), "input.json": json.dumps(list(shape))}
    with whole(path) as temporary, temporary.open("wb") as file, _quiet():
        torch.export.save(program, file, extra_files=about)


def to_onnx(method: Method, shape: tuple[int, ...], classes: Sequence[Any], path: Path) -> None:
    """Write an .onnx: input `x`, output `probabilities`, classes in its metadata as JSON."""
    try:
        import onnx
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise InputError(
            "ONNX takes onnx and onnxscript; install them with: pip install 'crowdwise[onnx]', or "
            "take --to torch"
        ) from error
    program = _exported(method, shape)
    with _quiet():
        written = torch.onnx.export(
            program,
            dynamo=True,
            input_names=[INPUT],
            output_names=[OUTPUT],
            verbose=False,
            external_data=False,
        )
    assert written is not None
    model = written.model_proto
    onnx.helper.set_model_props(model, {"classes": json.dumps(list(classes))})
    onnx.checker.check_model(model)
    with whole(path) as temporary:
        onnx.save(model, str(temporary))


def _exported(method: Method, shape: tuple[int, ...]) -> torch.export.ExportedProgram:
    method = deepcopy(method).requires_grad_(False).eval()
    for weight in (*method.parameters(), *method.buffers()):
        weight.data = weight.data.clone()  # several may lie in one piece of memory
    items = torch.export.Dim("items", min=1)
    with _quiet(), torch.no_grad():
        return torch.export.export(
            Predictor(method).eval(), (torch.zeros(2, *shape),), dynamic_shapes={"x": {0: items}}
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Both exporters talk of their own insides."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
