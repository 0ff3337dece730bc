"""The paper's numbers as its tables have them, held against the margins it prints itself."""

import pytest

from crowdwise.reproduce.paper import NAMES, paper_facts, paper_noise, paper_numbers
from crowdwise.simulate.cases import CASES

# CCC's lead over the best other method ("M.I."), best and last, IND-I … COR-IV
MARGINS = {
    "cifar10": (
        (5.49, 6.41, 6.76, 3.77, 6.31, 3.71, 3.30, 1.73),
        (5.06, 10.11, 10.20, 3.78, 7.23, 3.92, 3.70, 1.68),
    ),
    "fashion-mnist": (
        (1.29, 1.78, 2.43, 1.51, 1.10, 1.35, 1.07, 0.87),
        (4.29, 13.29, 13.08, 2.58, 6.43, 4.10, 1.06, 0.86),
    ),
}


@pytest.mark.parametrize("dataset", MARGINS)
def test_all_sixteen_cases_have_the_margins_the_paper_prints(dataset):
    numbers = paper_numbers()
    others = [name for name in NAMES if name not in ("ccc", "true-labels")]
    for rule, margins in zip(("oracle", "last"), MARGINS[dataset], strict=True):
        for case, margin in zip(CASES, margins, strict=True):
            place = f"{dataset}, {case}"
            best = max(numbers[place, other][rule].mean for other in others)
            lead = numbers[place, "ccc"][rule].mean - best
            assert lead == pytest.approx(margin, abs=0.006), (place, rule)


def test_facts_and_noise_rates_are_found_by_our_names():
    assert paper_noise("fashion-mnist", "COR-I") == (19.39, 56.64)
    assert paper_noise("cifar10n") == (2.13, 17.71)
    assert paper_noise("digits") is None
    assert paper_facts("labelme")["labels_per_item"] == 2.5
    assert paper_facts("digits") == {}
