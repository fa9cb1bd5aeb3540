"""A last layer whose logits are scaled cosines between features and class directions."""

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

# Factor of the cosines, as in LDAM (Cao et al., NeurIPS 2019).
SCALE = 30.0

# Added to the name of a network with such a layer.
SUFFIX = "+cosine"


class CosineLinear(nn.Linear):
    """A linear layer of normalised features and normalised weights, without bias.

    Args:
        features: Number of features.
        classes: Number of classes.

    Example:
        >>> import torch
        >>> layer = CosineLinear(2, 1)
        >>> _ = layer.weight.data.copy_(torch.tensor([[3.0, 0.0]]))
        >>> layer(torch.tensor([[5.0, 0.0], [0.0, 1.0]])).tolist()
        [[30.0], [0.0]]
    """

    def __init__(self, features: int, classes: int) -> None:
        super().__init__(features, classes, bias=False)

    def forward(self, input: Float[Tensor, "*rows features"]) -> Float[Tensor, "*rows classes"]:
        """Scaled cosines."""
        return SCALE * F.linear(F.normalize(input, dim=-1), F.normalize(self.weight, dim=-1))


def with_cosine_layer(model: nn.Module) -> nn.Module:
    """Replace the last, linear layer of a network by one of cosines with the same weights.

    Args:
        model: A module whose last layer is ``nn.Linear``; changed in place.
    """
    name, last = last_layer(model)
    cosine = CosineLinear(last.in_features, last.out_features).to(last.weight)
    cosine.weight.data.copy_(last.weight.data)
    if not name:
        return cosine
    parent, _, own = name.rpartition(".")
    setattr(model.get_submodule(parent), own, cosine)
    return model


def last_layer(model: nn.Module) -> tuple[str, nn.Linear]:
    """The last layer of a network and its name within it; raise unless it is linear."""
    name, last = [(name, part) for name, part in model.named_modules() if not any(part.children())][
        -1
    ]
    if not isinstance(last, nn.Linear):
        raise ValueError(
            "this method replaces or retrains the last layer of the network, which must be "
            f"nn.Linear, got {type(last).__name__}; end the network with a linear layer, or choose "
            "another method"
        )
    return name, last
