"""The paper's table of data sets and its Figures 1 and 2: what the crowds are, without training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.table import Table

from crowdwise.errors import InputError
from crowdwise.files import write_text
from crowdwise.reproduce.paper import paper_facts, paper_noise
from crowdwise.results.table import Spread, markdown

if TYPE_CHECKING:
    from crowdwise.annotations import Annotations
    from crowdwise.datasets import Dataset

SUITES = {
    "stats": "The data sets and their crowds",
    "figures": "Labels per annotator, and who errs like whom",
}
REAL, SIMULATED = ("cifar10n", "labelme", "music"), ("cifar10", "fashion-mnist")
NAMES = {"cifar10n": "CIFAR-10N", "labelme": "LabelMe", "music": "MUSIC"}
HEAD = ("crowd", "train", "test", "validation", "annotators", "labels per item", "NR1", "NR2")
ABOUT = (
    "The paper's figures in brackets. NR1 is the share of items whose true class nobody named, "
    "NR2 the share of labels that are wrong, both in percent. Crowds of CIFAR-10 and Fashion-MNIST "
    "are simulated: mean ± standard deviation over {seeds} draws; the paper has one draw of each."
)


class Fact(NamedTuple):
    """A number of ours and what the paper prints in its place."""

    ours: Spread
    paper: float | None
    digits: int = 0

    def __str__(self) -> str:
        sd = "" if self.ours.sd is None else f" ± {self.ours.sd:.{self.digits}f}"
        beside = "" if self.paper is None else f" ({self.paper:,.{self.digits}f})"
        return f"{self.ours.mean:,.{self.digits}f}{sd}{beside}"


def run(
    suite: str, datasets: str, seeds: int, command: str, folder: Path, copy: Path | None = None
) -> tuple[list[Table], list[Path]]:
    """Make the page of `stats` or `figures`: tables for the terminal, and the files written."""
    where = [name.strip() for name in datasets.split(",")] if datasets != "all" else None
    for name in where or []:
        if name not in (*REAL, *SIMULATED):
            known = ", ".join((*REAL, *SIMULATED))
            raise InputError(f"the suite {suite} has no data set {name!r}; choose from {known}")
    if suite == "figures":
        return [], figures(where or REAL, command, folder, copy)
    if seeds < 1:
        raise InputError(f"--seeds is {seeds}; it must be at least 1")
    table = list(facts(where or (*REAL, *SIMULATED), seeds))
    shown = Table(*HEAD, title="ours (the paper's)", title_justify="left")
    for name, numbers in table:
        shown.add_row(name, *map(str, numbers))
    about = ABOUT.format(seeds=seeds)
    blocks = [f"# {SUITES[suite]}", f"    {command} --seeds {seeds}", about]
    text = "\n\n".join(
        [*blocks, markdown(HEAD, [[name, *map(str, numbers)] for name, numbers in table])]
    )
    csv = (
        "\n".join(
            ",".join(_plain(row)) for row in [_csv_head(), *(_csv_row(*row) for row in table)]
        )
        + "\n"
    )
    written = [folder / "table.md", folder / "table.csv"]
    write_text(written[0], text)
    write_text(written[1], csv)
    if copy is not None:
        write_text(copy, text)
        written.append(copy)
    return [shown], written


def facts(datasets: Sequence[str], seeds: int) -> Iterator[tuple[str, list[Fact]]]:
    """A row per crowd, beside the paper's table of data sets."""
    from crowdwise import simulate
    from crowdwise.simulate.cases import CASES

    for dataset in datasets:
        data = _data(dataset)
        assert data.y_train is not None
        if dataset in REAL:
            assert data.annotations is not None
            yield _row(NAMES[dataset], dataset, data, [data.annotations], None)
            continue
        for case in CASES:
            drawn = [
                simulate.crowd(data.y_train, case, seed=seed, n_classes=len(data.classes))
                for seed in range(seeds)
            ]
            yield _row(f"{dataset}, {case}", dataset, data, drawn, case)


def figures(
    datasets: Sequence[str], command: str, folder: Path, copy: Path | None = None
) -> list[Path]:
    """Figures 1 and 2 of the paper for each data set, and a page that shows them."""
    from crowdwise.report.figures import annotator_distances, labels_per_annotator, write

    blocks = [f"# {SUITES['figures']}", f"    {command}"]
    page = copy or folder / "figures.md"
    written = []
    for dataset in datasets:
        if dataset not in REAL:
            raise InputError(f"figures are of crowds of people, and {dataset} has none of its own")
        # LabelMe's ten views of an image share one set of labels: count them once
        data = _data("labelme-original" if dataset == "labelme" else dataset)
        assert data.annotations is not None
        assert data.y_train is not None
        for what, spec in (
            ("labels", labels_per_annotator(data.annotations)),
            ("distances", annotator_distances(data.annotations, data.classes[data.y_train])),
        ):
            spec["title"]["text"] = f"{NAMES[dataset]}: {_lower(spec['title']['text'])}"
            written += write(spec, page.parent, f"{page.stem}-{dataset}-{what}")
        blocks += [
            f"## {NAMES[dataset]}",
            f"![Histogram of labels per annotator]({page.stem}-{dataset}-labels.png)",
            f"![Distances between annotators]({page.stem}-{dataset}-distances.png)",
        ]
    write_text(page, "\n\n".join(blocks) + "\n")
    return [page, *written]


def _row(
    name: str, dataset: str, data: Dataset, crowds: list[Annotations], case: str | None
) -> tuple[str, list[Fact]]:
    from crowdwise.annotations.stats import noise_rates

    assert data.y_train is not None
    printed, noise = paper_facts(dataset), paper_noise(dataset, case) or (None, None)
    rates = 100 * np.array([noise_rates(crowd, crowd.classes[data.y_train]) for crowd in crowds])
    per_item = [len(crowd) / len(np.unique(crowd.item)) for crowd in crowds]
    sizes = (len(data.x_train), len(data.x_test), 0 if data.y_valid is None else len(data.y_valid))
    counts = [
        Fact(Spread.of([size]), printed.get(part))
        for part, size in zip(("train", "test", "validation"), sizes, strict=True)
    ]
    return name, [
        *counts,
        Fact(Spread.of([crowds[0].n_annotators]), printed.get("annotators")),
        Fact(Spread.of([float(np.mean(per_item))]), printed.get("labels_per_item"), 1),
        *(Fact(Spread.of(rates[:, j].tolist()), noise[j], 2) for j in range(2)),
    ]


def _data(dataset: str) -> Dataset:
    """The data set; CIFAR-10's labels come with its frozen features where the pixels are not."""
    from crowdwise import datasets

    pixels = {"cifar10", "cifar10n"}
    return datasets.load("cifar10n-features" if dataset in pixels else dataset)


def _csv_head() -> list[str]:
    names = [name.replace(" ", "_") for name in HEAD[1:]]
    return ["crowd", *(f"{name}{part}" for name in names for part in ("", "_sd", "_paper"))]


def _csv_row(name: str, numbers: Sequence[Fact]) -> list[Any]:
    return [name, *(value for fact in numbers for value in (*fact.ours[:2], fact.paper))]


def _plain(values: Sequence[Any]) -> list[str]:
    texts = ["" if v is None else f"{v:.6g}" if isinstance(v, float) else str(v) for v in values]
    return [f'"{text}"' if "," in text else text for text in texts]


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]
