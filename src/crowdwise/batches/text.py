"""Texts as vectors: by their words, counted here, or by a sentence encoder of the user's choice."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from crowdwise.errors import InputError
from crowdwise.files import whole, write_text

WORDS = "tfidf"  # the embedding that needs no model
TERMS = 2**15  # words and pairs of words that are counted, the most frequent
DIMENSIONS = 256  # of the vectors made from them
FILES = ("embedding.json", "embedding.safetensors")


class WordVectors(NamedTuple):
    """Words and pairs of words, weighed by their rarity, in the directions that vary most.

        v = P w,   w_t = (1 + log count_t) · idf_t / ‖·‖

    P are the leading right singular vectors of the training texts' w.

    Example:
        >>> texts = ["a black cat", "the black dog", "a white cat", "the white dog"]
        >>> words = WordVectors.fitted(texts)
        >>> words.vectors(["a black dog"]).shape
        (1, 3)
    """

    terms: list[str]  # (T,)
    idf: NDArray[np.float64]  # (T,)
    directions: NDArray[np.float32]  # (D, T)

    @classmethod
    def fitted(cls, texts: Sequence[str]) -> WordVectors:
        """Learn terms and directions from the texts of the items."""
        from sklearn.decomposition import TruncatedSVD

        counter = _counter(max_features=TERMS)
        try:
            weighed = counter.fit_transform(texts)
        except ValueError as error:  # nothing but stop marks and white space
            raise InputError(f"the texts hold no words to count ({error})") from error
        terms = counter.get_feature_names_out().tolist()
        size = min(DIMENSIONS, min(weighed.shape) - 1)
        if size < 1:
            raise InputError(
                f"{len(texts)} texts with {len(terms)} different words are too few to learn from"
            )
        found = TruncatedSVD(size, random_state=0).fit(weighed)
        return cls(terms, counter.idf_, np.ascontiguousarray(found.components_, np.float32))

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(N, D), a row for each text."""
        counter = _counter(vocabulary=self.terms)
        counter.idf_ = self.idf
        return np.asarray(counter.transform(texts) @ self.directions.T, dtype=np.float32)

    def save(self, folder: Path) -> None:
        """Write both files into a run's folder: terms as JSON, numbers as safetensors."""
        write_text(folder / FILES[0], json.dumps({"terms": self.terms}) + "\n")
        with whole(folder / FILES[1]) as temporary:
            save_file({"idf": self.idf, "directions": self.directions}, temporary)

    @classmethod
    def load(cls, folder: Path) -> WordVectors:
        """Read them back; nothing in them is run."""
        try:
            terms = json.loads((folder / FILES[0]).read_text(encoding="utf-8"))["terms"]
            numbers = load_file(folder / FILES[1])
            idf, directions = numbers["idf"], numbers["directions"]
            fits = (
                isinstance(terms, list)
                and all(isinstance(term, str) for term in terms)
                and len(set(terms)) == len(terms)
                and idf.shape == (len(terms),)
                and directions.ndim == 2
                and directions.shape[1] == len(terms)
            )
        except (OSError, ValueError, KeyError, TypeError, SafetensorError, RecursionError) as error:
            raise InputError(
                f"{folder}: its embedding cannot be read ({error}); the run is damaged"
            ) from error
        if not fits:
            raise InputError(f"{folder}: the parts of its embedding do not fit together")
        return cls(terms, idf, directions)


def _counter(**options: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(
        sublinear_tf=True, ngram_range=(1, 2), strip_accents="unicode", **options
    )


def sentence_vectors(texts: Sequence[str], model: str) -> NDArray[np.float32]:
    """(N, D) by a model of sentence-transformers: a folder, or a name that the library knows.

    Weights are read from safetensors only, and no code that comes with a model is run.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise InputError(
            f"--embed {model} takes sentence-transformers; install it with: "
            f"pip install 'crowdwise[text]', or take --embed {WORDS}, which needs no model"
        ) from error
    try:
        encoder = SentenceTransformer(
            model, trust_remote_code=False, model_kwargs={"use_safetensors": True}
        )
    except Exception as error:  # the library and those below it raise all kinds
        reason = str(error).strip().partition("\n")[0]
        raise InputError(
            f"--embed {model}: no sentence encoder can be loaded by this name ({reason:.200}); "
            f"name a folder that holds one, or take {WORDS}"
        ) from error
    encoded = encoder.encode(
        list(texts), convert_to_numpy=True, show_progress_bar=sys.stderr.isatty()
    )
    return np.asarray(encoded, dtype=np.float32)
