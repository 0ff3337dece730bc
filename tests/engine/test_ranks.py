"""Two and four processes against one: the same weights, losses, scores and random numbers."""

from pathlib import Path

import pytest
import torch

from tests.engine import processes, together


@pytest.fixture(scope="module", params=[2, 4])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    out: Path = tmp_path_factory.mktemp("ranks") / "found.pt"
    ended = processes.run(["-m", "tests.engine.together", str(out), *together.CASES], request.param)
    assert [code for code, _, _ in ended] == [0] * request.param, ended
    return torch.load(out)


@pytest.mark.slow
@pytest.mark.parametrize("case", together.CASES)
def test_several_processes_train_what_one_trains(found, case):
    alone = together.train(case)
    assert found[case].keys() == alone.keys()
    for name, expected in alone.items():
        torch.testing.assert_close(
            found[case][name], expected, rtol=1e-5, atol=1e-5, msg=lambda m, n=name: f"{n}: {m}"
        )
    assert torch.equal(found[case]["stream"], alone["stream"])
