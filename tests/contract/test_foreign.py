"""A third party registers a method from its own package, by an entry point and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GUEST = '''
"""A method of somebody else's."""

from dataclasses import dataclass

from torch.nn.functional import cross_entropy

from crowdwise.methods.base import Method, make_optimizer, probabilities, step
from crowdwise.methods.options import Options


@dataclass(frozen=True, kw_only=True)
class GuestOptions(Options):
    """What the guest can be told."""

    loudness: float = 2.0


class EveryLabel(Method):
    """Every label counts for the truth.

    More about it.
    """

    options_type = GuestOptions

    def __init__(self, make_net, shape, options):
        super().__init__(make_net, shape, options)
        self.net = make_net()
        self.optimizers = [make_optimizer(options, self.parameters())]

    def update(self, batch):
        loss = cross_entropy(self.net(batch.x)[batch.row], batch.label)
        return {"loss": step(self.optimizers[0], self.options.loudness * loss)}

    def predict_each(self, x):
        return probabilities(self.net, x)
'''

TRAINING = """
import numpy as np, torch
from torch import nn
from crowdwise.annotations import Annotations
from crowdwise.batches import CrowdData
from crowdwise.methods import create, names
from crowdwise.nets import Net

assert names()[-1] == "every-label", names()
crowd = Annotations.from_triples([0, 0, 1, 2], ["a", "b", "a", "b"], [0, 1, 1, 0])
data = CrowdData(np.eye(3, dtype=np.float32), crowd)
make = lambda: Net(nn.Flatten(), nn.Linear(3, 2))
method = create("Every Label", make, data.shape, {"loudness": 3.0, "n_models": 2})
method.start(data)
losses = [float(method.update(b)["loss"]) for _ in range(9) for b in data.epoch(torch.arange(3), 3)]
assert losses[-1] < losses[0]
print(type(method.members[0]).__name__, tuple(method.predict(data.x(torch.arange(2))).shape))
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder as an installer leaves it: a module and its metadata."""
    (tmp_path / "guest.py").write_text(GUEST, encoding="utf-8")
    info = tmp_path / "guest_method-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: guest-method\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[crowdwise.methods]\nevery-label = guest:EveryLabel\n")
    return tmp_path


def python(site: Path, *arguments: str) -> str:
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_foreign_method_trains(site: Path) -> None:
    assert python(site, "-c", TRAINING).strip() == "EveryLabel (2, 2)"


def test_a_foreign_method_is_listed_with_its_first_line(site: Path) -> None:
    lines = python(site, "-m", "crowdwise", "methods").splitlines()
    assert lines[-1].split(maxsplit=1) == ["every-label", "Every label counts for the truth."]
