"""Data augmentation of images during training: random shifts, flips and crops."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Number, at_least


@dataclass(frozen=True, kw_only=True)
class Augmentation:
    """Random changes of images during training; none by default.

    Attributes:
        shift: Largest shift in pixels, horizontally and vertically; the border is repeated.
        flip: Whether to mirror images left to right with probability 1/2.
        crop: Largest share of height and width to cut off. The remaining part, which may lie
            anywhere in the image, is scaled back to full size.

    Example:
        >>> x = torch.arange(6.0).view(1, 1, 2, 3)
        >>> mirrored = torch.Generator().manual_seed(2)
        >>> Augmentation(flip=True)(x, generator=mirrored).round().flatten().tolist()
        [2.0, 1.0, 0.0, 5.0, 4.0, 3.0]
    """

    shift: int = 0
    flip: bool = False
    crop: Number = 0.0

    def __post_init__(self) -> None:
        at_least("shift", self.shift, 0)
        if not 0 <= self.crop < 1:
            raise ValueError(f"crop must be a share from 0 to below 1, got {self.crop}")

    def __bool__(self) -> bool:
        return bool(self.shift or self.flip or self.crop)

    def __call__(
        self, x: Float[Tensor, "images channels height width"], *, generator: torch.Generator
    ) -> Float[Tensor, "images channels height width"]:
        """Change each image independently.

        Args:
            generator: Source of all randomness, on the CPU.
        """
        images, _, height, width = x.shape
        uniform = torch.rand(4, images, generator=generator)
        # In the coordinates of grid_sample: an image extends from -1 to 1.
        scale = 1 - float(self.crop) * uniform[0]
        room = 1 - scale
        pixels = torch.randint(-self.shift, self.shift + 1, (2, images), generator=generator)
        across = room * (2 * uniform[1] - 1) + 2 * pixels[0] / width
        down = room * (2 * uniform[2] - 1) + 2 * pixels[1] / height
        sign = 1 - 2 * (uniform[3] < 0.5).to(scale) if self.flip else torch.ones_like(scale)
        nothing = torch.zeros_like(scale)
        rows = [torch.stack([sign * scale, nothing, across]), torch.stack([nothing, scale, down])]
        transform = torch.stack(rows).permute(2, 0, 1).to(x)
        grid = F.affine_grid(transform, list(x.shape), align_corners=False)
        return F.grid_sample(x, grid, padding_mode="border", align_corners=False)
