"""Augmentation: shifts, flips and crops do what they say."""

import pytest
import torch

from oddkout.fitting.augmentation import Augmentation


def images(count=200, height=6, width=8):
    return torch.rand(count, 2, height, width, generator=torch.Generator().manual_seed(0))


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def shifted_by_hand(image, down, across):
    """Shift an image by whole pixels with repeated border, by indexing."""
    rows = (torch.arange(image.shape[1]) + down).clamp(0, image.shape[1] - 1)
    columns = (torch.arange(image.shape[2]) + across).clamp(0, image.shape[2] - 1)
    return image[:, rows][:, :, columns]


def test_a_shift_moves_whole_pixels_and_repeats_the_border():
    x = images()
    moved = Augmentation(shift=2)(x, generator=seeded())
    shifts = []
    for before, after in zip(x, moved, strict=True):
        matches = [
            (down, across)
            for down in range(-2, 3)
            for across in range(-2, 3)
            if torch.allclose(shifted_by_hand(before, down, across), after, atol=1e-4)
        ]
        assert len(matches) == 1
        shifts += matches
    assert len(set(shifts)) == 25, "200 draws miss one of 25 shifts about once in 140 seeds"


def test_a_flip_mirrors_half_of_the_images():
    x = images()
    mirrored = Augmentation(flip=True)(x, generator=seeded())
    is_mirrored = torch.isclose(mirrored, x.flip(3), atol=1e-4).flatten(1).all(dim=1)
    is_same = torch.isclose(mirrored, x, atol=1e-4).flatten(1).all(dim=1)
    assert (is_mirrored ^ is_same).all()
    assert abs(is_mirrored.sum().item() - 100) < 4 * 50**0.5


def test_a_crop_magnifies_a_part_of_the_image():
    """The crop of a ramp is a flatter ramp within the range of the image."""
    ramp = torch.linspace(0, 1, 32).expand(300, 1, 32, 32).contiguous()
    cut = Augmentation(crop=0.4)(ramp, generator=seeded())
    slope = (cut[..., -2] - cut[..., 1]) / (ramp[..., -2] - ramp[..., 1])
    assert slope.min() > 0.6 - 0.02
    assert slope.max() < 1 + 0.02
    assert slope.std() > 0.05
    assert cut.min() >= 0
    assert cut.max() <= 1


def test_the_default_changes_nothing_and_the_generator_decides():
    x = images(20)
    assert not Augmentation()
    assert Augmentation(flip=True)
    torch.testing.assert_close(Augmentation()(x, generator=seeded()), x, atol=1e-5, rtol=0)
    options = {"shift": 1, "flip": True, "crop": 0.2}
    first, again, other = (Augmentation(**options)(x, generator=seeded(s)) for s in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize("options", [{"shift": -1}, {"crop": 1.0}, {"crop": -0.1}])
def test_impossible_changes_are_refused(options):
    with pytest.raises(ValueError, match=r"must be"):
        Augmentation(**options)
