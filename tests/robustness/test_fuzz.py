"""A bounded share of what `make fuzz` does: good files with pieces overwritten or cut out."""

import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdwise.errors import InputError
from tests.robustness.targets import Finding, Fuzz, Target, targets

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the alarm is POSIX"),
]
TELLING = [
    b"\xff",
    b"\0" * 8,
    b"\xff" * 8,
    b"9" * 40,
    b"[",
    b'"',
    b"\n",
    b",",
    b"-1",
    b"NaN",
    b"1e999",
]
EDITS = st.lists(
    st.tuples(
        st.floats(0, 1),  # where
        st.integers(0, 12),  # bytes that go
        st.one_of(st.sampled_from(TELLING), st.binary(max_size=12)),  # bytes that come
    ),
    min_size=1,
    max_size=4,
)
EXAMPLES = {"labels": 150, "features": 100, "run": 40, "checkpoint": 40}


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Fuzz]:
    made = targets(tmp_path_factory.mktemp("good"))
    return {name: Fuzz(made[name], tmp_path_factory.mktemp(name)) for name in made}


def edited(data: bytes, edits: list[tuple[float, int, bytes]]) -> bytes:
    for where, gone, come in edits:
        start = 1 + int(where * (len(data) - 1))
        data = data[:start] + come + data[start + gone :]
    return data


@pytest.mark.parametrize("name", EXAMPLES)
def test_bad_bytes_end_in_one_sentence(every: dict[str, Fuzz], name: str) -> None:
    fuzz = every[name]
    examples = list(fuzz.examples())
    for example in examples:
        fuzz(example)

    @settings(max_examples=EXAMPLES[name], suppress_health_check=list(HealthCheck), database=None)
    @given(example=st.sampled_from(examples), edits=EDITS)
    def check(example: bytes, edits: list[tuple[float, int, bytes]]) -> None:
        fuzz(edited(example, edits))

    check()


def test_what_is_a_finding_is_found(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "place").mkdir()

    def two_lines(path: Path) -> None:
        raise InputError("one\ntwo")

    def writes(path: Path) -> None:
        elsewhere.write_text("")

    def crashes(path: Path) -> None:
        raise KeyError(path)

    for use, error in ((two_lines, Finding), (writes, Finding), (crashes, KeyError)):
        with pytest.raises(error):
            Fuzz(Target({"a": b"good"}, use), tmp_path / "place")(b"\0bad")
    assert not elsewhere.exists()
    assert (tmp_path / "place" / "a").read_bytes() == b"good"
