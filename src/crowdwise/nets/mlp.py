"""Networks for vectors: a linear head, fully connected ones, and the paper's two.

Inputs of any shape are flattened. Weights come from PyTorch's own start and seed.
"""

from collections.abc import Sequence

from torch import nn

from crowdwise.nets.linear import Linear
from crowdwise.nets.net import Net
from crowdwise.nets.norm import BatchNorm1d


def linear(input_dim: int, n_classes: int) -> Net:
    """The last layer alone, for embeddings that are good already.

    Example:
        >>> linear(4, 3).head
        Linear(in_features=4, out_features=3, bias=True)
    """
    return Net(nn.Flatten(), nn.Linear(input_dim, n_classes))


def mlp(
    input_dim: int,
    n_classes: int,
    hidden: Sequence[int] = (128,),
    dropout: float = 0.5,
    norm: bool = True,
) -> Net:
    """[norm] – (linear – ReLU – dropout – [norm]) for each hidden size – linear.

    `norm` is batch norm without affine weights; the first one standardises raw features, so that
    the scale they come in does not matter.

    Example:
        >>> mlp(20, 3, hidden=(64, 32)).head
        Linear(in_features=32, out_features=3, bias=True)
    """
    layers: list[nn.Module] = [nn.Flatten()]
    if norm:
        layers.append(BatchNorm1d(input_dim, affine=False))
    width = input_dim
    for size in hidden:
        layers += [Linear(width, size), nn.ReLU(), nn.Dropout(dropout)]
        if norm:
            layers.append(BatchNorm1d(size, affine=False))
        width = size
    return Net(nn.Sequential(*layers), nn.Linear(width, n_classes))


def fc128(input_dim: int, n_classes: int, dropout: float = 0.5, hidden: int = 128) -> Net:
    """The paper's net for LabelMe: linear 128 – ReLU – dropout – linear.

    Example:
        >>> fc128(8192, 8).head
        Linear(in_features=128, out_features=8, bias=True)
    """
    return mlp(input_dim, n_classes, (hidden,), dropout, norm=False)


def music_net(input_dim: int, n_classes: int, dropout: float = 0.5, hidden: int = 128) -> Net:
    """The paper's net for MUSIC: norm – linear 128 – ReLU – dropout – norm – linear.

    Example:
        >>> music_net(124, 10).head
        Linear(in_features=128, out_features=10, bias=True)
    """
    return mlp(input_dim, n_classes, (hidden,), dropout, norm=True)
