"""The report in a real browser: quiet, offline, sorted, searched, opened, and quick when large."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdwise.report.html import write_report
from tests.report import runs
from tests.report.chromium import Page, browser, needs_chromium

pytestmark = needs_chromium
ROWS = "[...document.querySelectorAll('[data-table=annotators] .rows > tbody > tr:not(.panel)')]"
STATUS = "document.querySelector('[data-table=annotators] .controls output').textContent"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "run"
    groups = np.arange(60) % 4
    return write_report(runs.write(folder, runs.crowd(items=300, annotators=60), groups))


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(chromium: Page, report: Path) -> Page:
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.look(1200)
    chromium.open(report)
    return chromium


def column(page: Page, place: int) -> list[str]:
    return page.run(f"{ROWS}.map((row) => row.children[{place}].textContent)")


def search(page: Page, text: str) -> None:
    page.run(
        "(() => { const box = document.querySelector('[data-table=annotators] input');"
        f"box.value = {text!r}; box.dispatchEvent(new Event('input')) }})()"
    )


def head(page: Page, title: str) -> str:
    """Click a column's head; returns what it then says about the order."""
    return page.run(
        "(() => { const head = [...document.querySelectorAll('[data-table=annotators] thead th')]"
        f".find((cell) => cell.textContent === {title!r});"
        "head.querySelector('button').click(); return head.getAttribute('aria-sort') })()"
    )


def test_it_opens_without_a_complaint_and_asks_nobody(page: Page, report: Path) -> None:
    assert page.run("document.documentElement.dataset.ready") is not None
    assert page.complaints == []
    assert page.requests == [report.as_uri()]


def test_a_foreign_script_or_picture_is_refused_and_would_be_noticed(page: Page) -> None:
    page.run(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.x = 1';"
        "document.body.append(s) })()"
    )
    assert page.run("window.x === undefined")
    assert any("Content Security Policy" in text for text in page.complaints)


def test_a_click_on_a_head_sorts_and_another_turns(page: Page) -> None:
    assert head(page, "accuracy") == "descending"
    down = [float(text.strip("%")) for text in column(page, 2)]
    assert down == sorted(down, reverse=True)
    assert head(page, "accuracy") == "ascending"
    up = [float(text.strip("%")) for text in column(page, 2)]
    assert up == sorted(up)
    assert up[0] < down[-1]
    assert head(page, "annotator") == "ascending"
    assert column(page, 0)[:2] == ["worker-00000", "worker-00001"]


def test_a_search_and_a_group_leave_those_that_match(page: Page) -> None:
    assert page.run(STATUS) == "25 shown of 60 annotators"
    search(page, "WORKER-0001")
    assert sorted(column(page, 0)) == [f"worker-{r:05}" for r in range(10, 20)]
    assert page.run(STATUS) == "10 of 60 annotators"
    page.run(
        "(() => { const box = document.querySelector('[data-table=annotators] select');"
        "box.value = '2'; box.dispatchEvent(new Event('change')) })()"
    )
    assert sorted(column(page, 0)) == ["worker-00010", "worker-00014", "worker-00018"]
    search(page, "nobody")
    assert page.run(STATUS) == "0 of 60 annotators"


def test_more_are_shown_when_asked(page: Page) -> None:
    page.run("document.querySelector('[data-table=annotators] > .more').click()")
    assert page.run(STATUS) == "60 annotators"
    assert len(column(page, 0)) == 60
    assert page.run("document.activeElement.classList.contains('open')")


def test_an_annotator_opens_and_closes_by_keyboard(page: Page) -> None:
    page.run("document.querySelector('[data-table=annotators] .open').focus()")
    page.press("Enter")
    panel = "document.querySelector('[data-table=annotators] .panel')"
    assert page.run("document.activeElement.getAttribute('aria-expanded')") == "true"
    assert page.run(f"{panel}.id === document.activeElement.getAttribute('aria-controls')")
    cells = page.run(f"[...{panel}.querySelectorAll('.matrix tbody td')].map((c) => c.textContent)")
    assert len(cells) == 9
    percents = [0 if text == "·" else int(text) for text in cells]
    assert [sum(percents[i : i + 3]) for i in (0, 3, 6)] == pytest.approx([100] * 3, abs=2)
    page.press("Enter")
    assert page.run(f"{panel} === null")
    page.press("Tab")
    assert page.run("document.activeElement.textContent") == column(page, 0)[1]


def test_an_item_opens_with_the_votes_it_got(page: Page) -> None:
    page.run("document.querySelector('[data-table=items] .open').click()")
    voices = page.run("document.querySelectorAll('[data-table=items] .voices tbody tr').length")
    assert voices == 3


def test_a_group_leads_to_its_annotators(page: Page) -> None:
    page.run("document.querySelector('[data-table=groups] .open').click()")
    page.run("document.querySelector('[data-table=groups] .panel .more').click()")
    assert page.run(STATUS) == "15 of 60 annotators"
    assert len(set(column(page, 5))) == 1


def test_arrow_keys_read_the_map(page: Page) -> None:
    page.run("document.querySelector('.map .field').focus()")
    page.press("ArrowRight")
    page.press("ArrowDown")
    page.press("ArrowRight")
    said = page.run("document.getElementById('cell').textContent")
    assert said.count("worker-") == 2
    assert "(group " in said


@pytest.mark.parametrize("width", [320, 390, 800])
def test_no_width_scrolls_sideways(page: Page, report: Path, width: int) -> None:
    page.look(width)
    page.open(report)
    page.run("document.querySelectorAll('.rows .open:first-of-type').forEach((b) => b.click())")
    assert page.run("document.documentElement.scrollWidth") <= width


def test_dark_screens_are_dark_and_paper_is_white(page: Page, report: Path) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.run(paper) == "rgb(255, 255, 255)"
    page.look(1200, scheme="dark")
    assert page.run(paper) == "rgb(20, 23, 27)"
    page.send("Emulation.setEmulatedMedia", media="print")
    assert page.run(paper) == "rgb(255, 255, 255)"
    assert page.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    page.send("Emulation.setEmulatedMedia", media="")
    assert page.printed().startswith(b"%PDF")


def test_markup_in_names_stays_text(chromium: Page, tmp_path: Path) -> None:
    report = write_report(runs.evil(tmp_path / "<i>run"))
    chromium.complaints.clear()
    chromium.requests.clear()
    chromium.look(1200)
    chromium.open(report)
    chromium.run("document.querySelectorAll('.open').forEach((button) => button.click())")
    assert chromium.complaints == []
    assert chromium.requests == [report.as_uri()]
    assert set(runs.EVIL) <= set(column(chromium, 0))
    assert chromium.run("document.querySelectorAll('img, main i, main b[onmouseover]').length") == 0
    assert chromium.run("document.scripts.length") == 2
    assert chromium.run("document.querySelector('h1').textContent") == "<i>run"


def suspect(folder: Path) -> None:
    """Give the run's annotators what `fit` says of them: intervals, and every twentieth's fault."""
    frame = pl.read_parquet(folder / "annotators.parquet")
    rows = np.arange(len(frame))
    why = [f"says <b>cat</b> always, {r}" if r % 20 == 3 else None for r in rows]
    frame.with_columns(
        pl.Series("accuracy_low", np.full(len(rows), 0.25)),
        pl.Series("accuracy_high", np.full(len(rows), 0.75)),
        pl.Series("suspected_spammer", rows % 20 == 3),
        pl.Series("reason", why),
    ).write_parquet(folder / "annotators.parquet")


def test_suspects_can_be_singled_out_and_a_row_says_why(chromium: Page, tmp_path: Path) -> None:
    folder = runs.write(tmp_path / "run", runs.crowd(items=300, annotators=60))
    suspect(folder)
    chromium.complaints.clear()
    chromium.look(1200)
    chromium.open(write_report(folder))
    heads = chromium.run(
        "[...document.querySelectorAll('[data-table=annotators] thead th')].map(h => h.textContent)"
    )
    assert "spam?" in heads
    assert not {"reason", "accuracy low", "accuracy high"} & set(heads)
    assert all("25–75%" in text for text in column(chromium, 2))
    chromium.run("document.querySelector('[data-table=annotators] input[type=checkbox]').click()")
    assert sorted(column(chromium, 0)) == ["worker-00003", "worker-00023", "worker-00043"]
    chromium.run("document.querySelector('[data-table=annotators] .open').click()")
    notice = chromium.run("document.querySelector('[data-table=annotators] .notice').textContent")
    assert notice.startswith("Suspected of spam: says <b>cat</b> always, ")
    assert chromium.complaints == []


@pytest.mark.slow
def test_ten_thousand_annotators_open_in_three_seconds(chromium: Page, tmp_path: Path) -> None:
    classes = [f"class {c}" for c in range(10)]
    crowd = runs.crowd(items=100_000, annotators=10_000, classes=classes)
    groups = np.arange(10_000) // 300
    suspect(folder := runs.write(tmp_path / "run", crowd, groups, epochs=2000))
    report = write_report(folder)
    assert report.stat().st_size < 10e6
    chromium.complaints.clear()
    chromium.look(1200)
    chromium.open(report)
    assert int(chromium.run("document.documentElement.dataset.ready")) < 3000
    assert chromium.complaints == []
    text = chromium.run("document.body.innerText")
    for said in (
        "25 shown of 10,000 annotators",
        "10,000 annotators share",
        "The 200 of 100,000 labelled items",
        "500 of 2,000 epochs drawn",
    ):
        assert said in text
