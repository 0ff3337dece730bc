"""A small convolutional network that trains on a CPU."""

from torch import nn

from crowdwise.nets.linear import Linear
from crowdwise.nets.net import Net
from crowdwise.nets.norm import BatchNorm2d


def cnn(
    input_shape: tuple[int, ...],
    n_classes: int,
    width: int = 32,
    dropout: float = 0.0,
    stride: int = 1,
) -> Net:
    """Three times convolution 3×3 – max-pool 2×2 – batch norm – ReLU, then linear 128 – ReLU.

    Pooling comes before the norm, which then costs a quarter. Sizes are rounded up when halved, so
    the smallest image will do.

    Args:
        input_shape: (channels, height, width).
        width: channels after the first convolution; the next two double it.
        stride: of the first convolution; 2 makes a net about four times as cheap.

    Example:
        >>> cnn((1, 28, 28), 10).head
        Linear(in_features=128, out_features=10, bias=True)
    """
    channels, height, breadth = input_shape
    layers: list[nn.Module] = []
    for size in (width, 2 * width, 4 * width):
        layers += [
            nn.Conv2d(channels, size, 3, stride, padding=1, bias=False),
            nn.MaxPool2d(2, ceil_mode=True),
            BatchNorm2d(size),
            nn.ReLU(inplace=True),
        ]
        channels = size
        height, breadth = (-(-side // (2 * stride)) for side in (height, breadth))
        stride = 1
    layers += [
        nn.Flatten(),
        Linear(channels * height * breadth, 128),
        nn.ReLU(),
        nn.Dropout(dropout),
    ]
    return Net(nn.Sequential(*layers), nn.Linear(128, n_classes))
