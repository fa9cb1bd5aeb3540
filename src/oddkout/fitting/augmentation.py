"""Images a little changed in training: shifted, mirrored, cut out; on tensors, all at once."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from oddkout.checks import Number, at_least


def augmented(
    x: Float[Tensor, "images channels height width"],
    *,
    shift: int = 0,
    flip: bool = False,
    crop: Number = 0.0,
    generator: torch.Generator,
) -> Float[Tensor, "images channels height width"]:
    """Every image changed by itself; what comes in from outside repeats the border.

    Args:
        x: The images.
        shift: Largest shift in pixels, to each side and up and down.
        flip: Whether every second image, at random, is mirrored left to right.
        crop: Largest share of height and width that is cut off; what stays lies anywhere in the
            image and is scaled back to its size.
        generator: Source of all randomness, on the CPU.

    Example:
        >>> x = torch.arange(6.0).view(1, 1, 2, 3)
        >>> mirrored = torch.Generator().manual_seed(2)
        >>> augmented(x, flip=True, generator=mirrored).round().flatten().tolist()
        [2.0, 1.0, 0.0, 5.0, 4.0, 3.0]
    """
    at_least("shift", shift, 0)
    if not 0 <= crop < 1:
        raise ValueError(f"crop must be a share from 0 to below 1, got {crop}")
    images, _, height, width = x.shape
    uniform = torch.rand(4, images, generator=generator)
    # In the coordinates of grid_sample, where an image reaches from -1 to 1.
    scale = 1 - float(crop) * uniform[0]
    room = 1 - scale
    pixels = torch.randint(-shift, shift + 1, (2, images), generator=generator)
    across = room * (2 * uniform[1] - 1) + 2 * pixels[0] / width
    down = room * (2 * uniform[2] - 1) + 2 * pixels[1] / height
    sign = 1 - 2 * (uniform[3] < 0.5).to(scale) if flip else torch.ones_like(scale)
    nothing = torch.zeros_like(scale)
    rows = [torch.stack([sign * scale, nothing, across]), torch.stack([nothing, scale, down])]
    transform = torch.stack(rows).permute(2, 0, 1).to(x)
    grid = F.affine_grid(transform, list(x.shape), align_corners=False)
    return F.grid_sample(x, grid, padding_mode="border", align_corners=False)
