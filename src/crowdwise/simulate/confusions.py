"""The exact confusion matrix of every annotator of a plan, the oracle for what is learned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crowdwise.simulate.patterns import confusion
from crowdwise.simulate.plan import Plan


def exact_confusions(plan: Plan) -> NDArray[np.float64]:
    """Return T, T[r, p, q] = P(r says q | class p), averaged over the items of class p. (R, C, C)

    Independent: the pattern's matrix, mixed with the items' difficulty if there is one.
    copy: the reference's T. supportive: with a = T_ref[p, p], the truth with probability a,
    else uniform, so T[p, q] = a·1[p = q] + (1 - a)/C. opposite: the same with 1 - a for a.
    These are each annotator's own; a copying annotator and its reference err together.
    """
    C = plan.n_classes
    T = np.empty((plan.n_annotators, C, C))
    right = np.eye(C)
    for g, pattern in enumerate(plan.patterns):
        members = plan.group == g
        if not pattern.copies:
            own = confusion(pattern, C)
            if plan.difficulty is not None and pattern.kind != "dummy":
                mean, mass = plan.difficulty.mixed(plan.truth, C)
                own = (1 - mean)[:, None] * own + mass
            T[members] = own
            continue
        referred = T[plan.reference[members]]
        if pattern.kind == "copy":
            T[members] = referred
            continue
        a = np.diagonal(referred, axis1=1, axis2=2)[:, :, None]
        if pattern.kind == "opposite":
            a = 1 - a
        T[members] = a * right + (1 - a) / C
    return T
