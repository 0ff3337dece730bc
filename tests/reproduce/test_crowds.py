"""Statistics and figures of crowds, beside the paper's."""

import csv
import os

import pytest
from typer.testing import CliRunner

from crowdwise.cli.main import app
from crowdwise.errors import InputError
from crowdwise.reproduce import crowds

needs_data = pytest.mark.skipif("CROWDWISE_DATA" not in os.environ, reason="needs CROWDWISE_DATA")


def reproduce(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)], catch_exceptions=False)


@needs_data
def test_the_real_crowds_have_the_papers_noise_rates(tmp_path):
    done = reproduce("stats", "--datasets", "cifar10n,music", "--out", tmp_path)
    assert done.exit_code == 0
    table = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    assert [row["crowd"] for row in table] == ["CIFAR-10N", "MUSIC"]
    for row in table:
        for name in ("train", "test", "validation", "annotators"):
            assert float(row[name]) == float(row[f"{name}_paper"])
        for name in ("NR1", "NR2"):
            assert float(row[name]) == pytest.approx(float(row[f"{name}_paper"]), abs=0.0051)
    assert "| MUSIC | 700 (700) | 300 (300) |" in (tmp_path / "table.md").read_text()


@needs_data
def test_simulated_crowds_lie_around_the_papers_one_draw():
    rows = list(crowds.facts(["fashion-mnist"], seeds=2))
    assert len(rows) == 8
    for name, numbers in rows:
        for fact, within in zip(numbers[-2:], (3.5, 3.5), strict=True):
            assert fact.ours.mean == pytest.approx(fact.paper, abs=within), name


@needs_data
def test_figures_are_drawn_for_a_crowd_of_people(tmp_path):
    page = tmp_path / "docs" / "figures.md"
    done = reproduce("figures", "--datasets", "music", "--out", tmp_path, "--page", page)
    assert done.exit_code == 0
    for what in ("labels", "distances"):
        assert (page.parent / f"figures-music-{what}.png").stat().st_size > 5_000
        svg = (page.parent / f"figures-music-{what}.svg").read_text()
        assert "MUSIC: " in svg
        assert f"figures-music-{what}.png" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("stats", "--datasets", "mnist"), "the suite stats has no data set 'mnist'"),
        (("stats", "--seeds", 0), "--seeds is 0"),
        (("figures", "--datasets", "fashion-mnist"), "fashion-mnist has none of its own"),
    ],
)
def test_mistakes_are_one_sentence(arguments, message, tmp_path):
    with pytest.raises(InputError, match=message):
        reproduce(*arguments, "--out", tmp_path)
