"""The distilled set against its definition: class by class, the smallest losses."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from crowdwise.functional.distil import distil, unique_pairs


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.5, 1.0, 2.0])), min_size=1),
    st.integers(1, 40),
)
def test_distil_takes_the_smallest_losses_of_every_class(
    candidates: list[tuple[int, float]], size: int
) -> None:
    label = torch.tensor([c for c, _ in candidates])
    loss = torch.tensor([x for _, x in candidates])
    slow = []
    for c in range(4):
        own = [i for i in range(len(candidates)) if candidates[i][0] == c]
        slow += sorted(own, key=lambda i: candidates[i][1])[: max(1, size // 4)]
    assert distil(loss, label, 4, size).tolist() == slow


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2))))
def test_unique_pairs_are_those_of_a_set(given_labels: list[tuple[int, int]]) -> None:
    item = torch.tensor([i for i, _ in given_labels], dtype=torch.int64)
    label = torch.tensor([c for _, c in given_labels], dtype=torch.int64)
    pairs = unique_pairs(item, label, 3)
    assert list(zip(*(column.tolist() for column in pairs), strict=True)) == sorted(
        set(given_labels)
    )
