"""ResNet-18 and ResNet-34 for small images, as in the paper's experiments.

The first convolution is 3×3, stride 1, without padding, and no max-pool follows it: 32×32 pixels
become 30×30, then 15×15, 8×8, 4×4.
"""

from torch import Tensor, nn

from crowdwise.nets.net import Net
from crowdwise.nets.norm import BatchNorm2d


class Block(nn.Module):
    """Two 3×3 convolutions and a way around them: relu(x + conv(relu(conv(x))))."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.residual = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, padding=1, bias=False),
            BatchNorm2d(after),
            nn.ReLU(inplace=True),  # the norm's output is nobody else's
            nn.Conv2d(after, after, 3, padding=1, bias=False),
            BatchNorm2d(after),
        )
        self.around: nn.Module = nn.Identity()
        if stride != 1 or before != after:
            self.around = nn.Sequential(
                nn.Conv2d(before, after, 1, stride, bias=False), BatchNorm2d(after)
            )

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.residual(x)
        return y.add_(self.around(x)).relu_()


def resnet18(input_shape: tuple[int, ...], n_classes: int) -> Net:
    """ResNet-18, the paper's net for Fashion-MNIST.

    Example:
        >>> resnet18((1, 28, 28), 10).head
        Linear(in_features=512, out_features=10, bias=True)
    """
    return _resnet(input_shape, n_classes, (2, 2, 2, 2))


def resnet34(input_shape: tuple[int, ...], n_classes: int) -> Net:
    """ResNet-34, the paper's net for CIFAR-10 and CIFAR-10N.

    Example:
        >>> resnet34((3, 32, 32), 10).head
        Linear(in_features=512, out_features=10, bias=True)
    """
    return _resnet(input_shape, n_classes, (3, 4, 6, 3))


def _resnet(input_shape: tuple[int, ...], n_classes: int, depths: tuple[int, ...]) -> Net:
    layers: list[nn.Module] = [
        nn.Conv2d(input_shape[0], 64, 3, bias=False),
        BatchNorm2d(64),
        nn.ReLU(inplace=True),
    ]
    before = 64
    for stage, depth in enumerate(depths):
        after = 64 * 2**stage
        for block in range(depth):
            stride = 2 if stage > 0 and block == 0 else 1
            layers.append(Block(before, after, stride))
            before = after
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return Net(nn.Sequential(*layers), nn.Linear(before, n_classes))
