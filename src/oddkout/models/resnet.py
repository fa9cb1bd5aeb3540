"""Residual networks for 32 x 32 images: with a 3 x 3 stem instead of ImageNet's 7 x 7."""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from oddkout.checks import Number


class Block(nn.Module):
    """Two 3 x 3 convolutions with batch norm, added to their input (He et al., CVPR 2016)."""

    def __init__(self, inputs: int, outputs: int, *, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut = (
            nn.Identity()
            if stride == 1 and inputs == outputs
            else nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False), nn.BatchNorm2d(outputs)
            )
        )

    def forward(
        self, x: Float[Tensor, "images inputs height width"]
    ) -> Float[Tensor, "images outputs new_height new_width"]:
        """Add the residual to the shortcut."""
        residual = F.relu(self.norm1(self.conv1(x)), inplace=True)
        return F.relu(self.norm2(self.conv2(residual)) + self.shortcut(x), inplace=True)


class ResNet(nn.Module):
    """Four stages of residual blocks; each stage doubles the width and halves the image.

    Args:
        blocks: Number of blocks of each stage: (2, 2, 2, 2) is ResNet18, (3, 4, 6, 3) ResNet34.
        width: Channels of the first stage; 64 in the publication.
        dropout: Dropout rate before the last layer.
    """

    def __init__(
        self,
        blocks: tuple[int, int, int, int],
        *,
        channels: int,
        classes: int,
        width: int = 64,
        dropout: Number = 0.0,
    ) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        stages: list[nn.Module] = []
        inputs = width
        for stage, count in enumerate(blocks):
            for number in range(count):
                stride = 2 if stage > 0 and number == 0 else 1
                stages.append(Block(inputs, width << stage, stride=stride))
                inputs = width << stage
        self.blocks = nn.Sequential(*stages)
        self.dropout = nn.Dropout(float(dropout))
        self.out = nn.Linear(inputs, classes)

    def forward(
        self, x: Float[Tensor, "images channels height width"]
    ) -> Float[Tensor, "images classes"]:
        """Logits: stem, blocks, mean over the image, dropout, linear layer."""
        features = self.blocks(F.relu(self.norm(self.conv(x)), inplace=True))
        logits: Tensor = self.out(self.dropout(features.mean(dim=(2, 3))))
        return logits


BLOCKS = {"resnet18": (2, 2, 2, 2), "resnet34": (3, 4, 6, 3)}
# A quarter of the width costs a sixteenth of the time, so a machine without a GPU can train it.
WIDTHS = {"": 64, "-narrow": 16}
RESNETS = {f"{name}{suffix}": (name, width) for suffix, width in WIDTHS.items() for name in BLOCKS}


def resnet(name: str, *, channels: int, classes: int, dropout: Number = 0.0) -> ResNet:
    """Build one of ``RESNETS`` by name."""
    blocks, width = RESNETS[name]
    return ResNet(BLOCKS[blocks], channels=channels, classes=classes, width=width, dropout=dropout)
