"""No test of this folder sees the user's own cache or proxies."""

from pathlib import Path

import pytest

from crowdwise.datasets import source


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path_factory.mktemp("cache") / "data"
    monkeypatch.setattr(source, "cache", lambda: place)
    monkeypatch.setenv("no_proxy", "*")
    return place
