"""Max-MIG's loss: a lower bound of the mutual information between two beliefs about one class.

    M_ij = Σ_c p_i[c] q_j[c] / π_c
    loss = -(1/B) Σ_i (1 + log(M_ii + u)) + 1/(B² - B) Σ_{i≠j} M_ij

It is the Kullback-Leibler case of the f-mutual information gain: agreement within an item is
rewarded, agreement between different items is punished.
"""

from torch import Tensor


def information_loss(p: Tensor, q: Tensor, prior: Tensor, u: Tensor | float = 0.0) -> Tensor:
    """The negative gain, in O(B · C): the B² agreements between items are never formed.

    Σ_ij M_ij = <Σ_i p_i, Σ_j q_j / π>, so the sum off the diagonal is that minus Σ_i M_ii.
    A batch of one has no other items, so nothing is punished.

    Args:
        p: (B, C) the classifier's probabilities.
        q: (B, C) the crowd's.
        prior: (C,) π.
        u: added to the agreement before the logarithm.

    Example:
        >>> p = Tensor([[1, 0], [0, 1]])
        >>> float(information_loss(p, p, Tensor([0.5, 0.5])))  # -(1 + log 2)
        -1.6931471824645996
    """
    q = q / prior
    same = (p * q).sum(dim=1)
    gain = 1 + (same + u).log().mean()
    B = len(p)
    if B == 1:
        return -gain
    other = (p.sum(dim=0) * q.sum(dim=0)).sum() - same.sum()
    return other / (B * B - B) - gain
