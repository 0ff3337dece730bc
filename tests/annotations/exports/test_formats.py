from pathlib import Path

import pytest

from crowdwise.annotations.exports import FORMATS

FILES = Path(__file__).parent / "files"
SHAPES = {
    "label_studio.json": "label-studio",
    "label_studio_two_questions.json": "label-studio",
    "argilla.json": "argilla",
    "argilla_two_questions.jsonl": "argilla",
    "prodigy_choice.jsonl": "prodigy",
    "prodigy_binary.jsonl": "prodigy",
    "mturk.csv": "mturk",
    "mturk_two_answers.csv": "mturk",
    "one_hot.csv": "one-hot",
    "one_hot_several.csv": "one-hot",
    "nested.json": "nested",
    "wide.csv": "wide",
    "wide.tsv": None,  # its annotators go by names: the user has to say that it is wide
}


def guessed(raw: bytes, name: str) -> list[str]:
    return [key for key, form in FORMATS.items() if form.detect(raw, name)]


def test_every_file_of_this_folder_is_listed():
    assert {path.name for path in FILES.iterdir()} == set(SHAPES)


@pytest.mark.parametrize(("file", "name"), SHAPES.items())
def test_each_shape_is_recognised_by_its_own_format_only(file, name):
    raw = (FILES / file).read_bytes()
    assert guessed(raw, file) == ([name] if name else [])
    assert guessed(b"\xef\xbb\xbf" + raw, file) == ([name] if name else [])


@pytest.mark.parametrize(
    "raw",
    [
        b"task,worker,label\n1,2,0\n",
        b"item,annotator,answer\n1,2,0\n",
        b"id,user,response,weight\n1,2,0,1\n1,3,0,1\n",
        b"1,2,0\n",
        b"id,rater_id,text,score\n1,2,hello,5\n",
        b'{"task": 1, "worker": 2, "label": 0}\n{"task": 1, "worker": 3, "label": 0}\n',
        b'[{"task": 1, "worker": 2, "label": 0}]',
        b"PAR1\x15\x04",
        b"\x1f\x8b\x08\0",
        b"",
    ],
)
def test_long_tables_and_other_files_are_left_to_the_reader(raw):
    assert guessed(raw, "crowd") == []


def test_names_and_options():
    assert all(name == form.name and form.summary for name, form in FORMATS.items())
    assert {name: dict(form.options) for name, form in FORMATS.items()} == {
        "label-studio": {"from_name": None, "predictions": False},
        "argilla": {"question": None},
        "prodigy": {"label": None},
        "mturk": {"answer": None, "item": "HITId", "drop_rejected": False},
        "one-hot": {"item": None, "annotator": None, "classes": None, "single": False},
        "nested": {},
        "wide": {"item": None, "annotators": None, "missing": "-1"},
    }
