"""What others compute, each package in an environment of its own under benchmarks/.envs.

    python competitors.py dawid-skene SOURCE.npz TARGET.npy     under crowd-kit's interpreter
    python competitors.py crowdlab    SOURCE.npz TARGET.npy     under cleanlab's

SOURCE holds item, annotator and label (codes, one per label) and, for CROWDLAB, proba (N, C).
TARGET receives the posteriors or, from CROWDLAB, the consensus codes.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

ENVIRONMENTS = Path(__file__).parent / ".envs"
REQUIREMENTS = {"dawid-skene": "crowd-kit==1.4.1", "crowdlab": "cleanlab==2.9.0"}


def interpreter(contestant: str) -> str:
    """The interpreter of a contestant's environment, made when it is not there."""
    requirement = REQUIREMENTS[contestant]
    folder = ENVIRONMENTS / requirement.partition("==")[0]
    python = folder / "bin" / "python"
    if not python.exists():
        ENVIRONMENTS.mkdir(exist_ok=True)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", requirement], check=True)
    return str(python)


def ask(contestant: str, **crowd: np.ndarray) -> np.ndarray:
    """A contestant's answer for the crowd's item, annotator, label (and proba)."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "crowd.npz", Path(folder) / "answer.npy"
        np.savez(source, **crowd)
        command = [interpreter(contestant), __file__, contestant, str(source), str(target)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return np.load(target)


def dawid_skene(crowd: dict, steps: int = 100, stop: bool = True) -> np.ndarray:
    """crowd-kit's posteriors (N, C); `stop` leaves the end to its own tolerance."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    frame = pd.DataFrame(
        {"task": crowd["item"], "worker": crowd["annotator"], "label": crowd["label"]}
    )
    model = DawidSkene(n_iter=steps, tol=1e-5 if stop else -np.inf).fit(frame)
    return model.probas_.sort_index().sort_index(axis=1).to_numpy()


def crowdlab(crowd: dict) -> np.ndarray:
    """cleanlab's consensus codes (N,), with its defaults and the probabilities it is given."""
    import pandas as pd
    from cleanlab.multiannotator import get_label_quality_multiannotator

    item, proba = crowd["item"], crowd["proba"]
    table = np.full((len(proba), int(crowd["annotator"].max()) + 1), np.nan)
    table[item, crowd["annotator"]] = crowd["label"]
    heard = ~np.isnan(table).all(axis=0)
    found = get_label_quality_multiannotator(
        pd.DataFrame(table[:, heard]), proba, verbose=False, return_detailed_quality=False,
        return_annotator_stats=False,
    )  # fmt: skip
    return found["label_quality"]["consensus_label"].to_numpy().astype(np.int64)


if __name__ == "__main__":
    name, source, target = sys.argv[1:]
    work = {"dawid-skene": dawid_skene, "crowdlab": crowdlab}[name]
    np.save(target, work(dict(np.load(source))))
