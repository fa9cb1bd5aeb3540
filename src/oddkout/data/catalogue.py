"""The known data sets: their classes, official files, checksums and publishers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# fmt: off
_DIGITS = (
    "0", "1", "2", "3", "4", "5", "6", "7", "8", "9",
)
_FASHION = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag",
    "Ankle boot",
)
_CIFAR10 = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)
_CIFAR100 = (
    "apple", "aquarium_fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle",
    "bottle", "bowl", "boy", "bridge", "bus", "butterfly", "camel", "can", "castle",
    "caterpillar", "cattle", "chair", "chimpanzee", "clock", "cloud", "cockroach", "couch",
    "crab", "crocodile", "cup", "dinosaur", "dolphin", "elephant", "flatfish", "forest", "fox",
    "girl", "hamster", "house", "kangaroo", "keyboard", "lamp", "lawn_mower", "leopard", "lion",
    "lizard", "lobster", "man", "maple_tree", "motorcycle", "mountain", "mouse", "mushroom",
    "oak_tree", "orange", "orchid", "otter", "palm_tree", "pear", "pickup_truck", "pine_tree",
    "plain", "plate", "poppy", "porcupine", "possum", "rabbit", "raccoon", "ray", "road",
    "rocket", "rose", "sea", "seal", "shark", "shrew", "skunk", "skyscraper", "snail", "snake",
    "spider", "squirrel", "streetcar", "sunflower", "sweet_pepper", "table", "tank",
    "telephone", "television", "tiger", "tractor", "train", "trout", "tulip", "turtle",
    "wardrobe", "whale", "willow_tree", "wolf", "woman", "worm",
)
# fmt: on


@dataclass(frozen=True, kw_only=True)
class KnownData:
    """One known data set.

    Attributes:
        name: Name on the command line and in Python.
        classes: Names of the classes, in the order of the labels.
        folder: Folder of the official files in torchvision's layout.
        train: Official training files, with the MD5 of their (unpacked) content; for IDX the file
            of images, then that of labels.
        test: Official test files, in the same form.
        downloads: Addresses of the files to download, with their MD5.
    """

    name: str
    classes: tuple[str, ...]
    folder: str = ""
    train: Mapping[str, str] = field(default_factory=dict)
    test: Mapping[str, str] = field(default_factory=dict)
    downloads: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_idx(self) -> bool:
        """Whether the official files are IDX files rather than CIFAR batches."""
        return any("idx" in file for file in self.train)


def _idx(part: str, images: str, labels: str) -> dict[str, str]:
    return {f"{part}-images-idx3-ubyte": images, f"{part}-labels-idx1-ubyte": labels}


_MNIST_SITE = "https://ossci-datasets.s3.amazonaws.com/mnist"
_FASHION_SITE = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"
_CIFAR_SITE = "https://www.cs.toronto.edu/~kriz"

KNOWN = {
    known.name: known
    for known in (
        KnownData(name="digits", classes=_DIGITS),
        KnownData(
            name="mnist",
            classes=_DIGITS,
            folder="MNIST/raw",
            train=_idx(
                "train", "6bbc9ace898e44ae57da46a324031adb", "a25bea736e30d166cdddb491f175f624"
            ),
            test=_idx(
                "t10k", "2646ac647ad5339dbf082846283269ea", "27ae3e4e09519cfbb04c329615203637"
            ),
            downloads={
                f"{_MNIST_SITE}/train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
                f"{_MNIST_SITE}/train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
                f"{_MNIST_SITE}/t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
                f"{_MNIST_SITE}/t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
            },
        ),
        KnownData(
            name="fashion_mnist",
            classes=_FASHION,
            folder="FashionMNIST/raw",
            train=_idx(
                "train", "f4a8712d7a061bf5bd6d2ca38dc4d50a", "9018921c3c673c538a1fc5bad174d6f9"
            ),
            test=_idx(
                "t10k", "8181f5470baa50b63fa0f6fddb340f0a", "15d484375f8d13e6eb1aabb0c3f46965"
            ),
            downloads={
                f"{_FASHION_SITE}/train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
                f"{_FASHION_SITE}/train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
                f"{_FASHION_SITE}/t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
                f"{_FASHION_SITE}/t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
            },
        ),
        KnownData(
            name="cifar10",
            classes=_CIFAR10,
            folder="cifar-10-batches-py",
            train={
                "data_batch_1": "c99cafc152244af753f735de768cd75f",
                "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
                "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
                "data_batch_4": "634d18415352ddfa80567beed471001a",
                "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
            },
            test={"test_batch": "40351d587109b95175f43aff81a1287e"},
            downloads={f"{_CIFAR_SITE}/cifar-10-python.tar.gz": "c58f30108f718f92721af3b95e74349a"},
        ),
        KnownData(
            name="cifar100",
            classes=_CIFAR100,
            folder="cifar-100-python",
            train={"train": "16019d7e3df5f24257cddd939b257f8d"},
            test={"test": "f0ef6b0ae62326f3e7ffdfab6717acfc"},
            downloads={
                f"{_CIFAR_SITE}/cifar-100-python.tar.gz": "eb9058c3a382ffc7106e4002c42a8d85"
            },
        ),
    )
}
