"""A second head that predicts the odd class during training and is removed afterwards."""

from typing import Any

from torch import Tensor, nn


class OddHeadModel(nn.Module):
    """A classifier with an odd-class head on the same features; see ``with_odd_head``."""

    def __init__(
        self,
        model: nn.Module,
        features: nn.Module,
        *,
        width: int,
        classes: int,
        is_classifier: bool,
    ) -> None:
        super().__init__()
        self.model = model
        like = next(features.parameters(), None)
        if like is None:
            like = next(model.parameters())
        self.odd_head = nn.Linear(width, classes, device=like.device, dtype=like.dtype)
        self._is_classifier = is_classifier
        self._tap = _Tap()
        features.register_forward_hook(self._tap)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return (logits, odd-class logits) in training mode, logits alone in evaluation mode."""
        logits = self.model(*args, **kwargs)
        inputs, output = self._tap.drain()
        if not self.training:
            return logits
        if self._is_classifier and logits is not output:
            raise ValueError(
                "the model must return the output of its last linear layer, which the odd-class "
                "head runs in parallel to, but it returns something else; pass the module that "
                "outputs its features: with_odd_head(model, features=model.backbone, width=512, "
                "classes=10)"
            )
        return logits, self.odd_head(inputs if self._is_classifier else output)


def with_odd_head(
    model: nn.Module,
    *,
    features: nn.Module | None = None,
    width: int | None = None,
    classes: int | None = None,
) -> OddHeadModel:
    """Add an odd-class head that takes the same features as the classifier's last layer.

    The result returns ``(logits, odd_logits)`` in training mode and ``logits`` in evaluation mode.
    The model is wrapped, not copied; ``without_odd_head`` unwraps it.

    Args:
        model: A module that returns the output of its last, linear layer. Any other model needs
            the arguments below.
        features: The submodule that outputs one row of features per example.
        width: Number of these features.
        classes: Number of classes.

    Example:
        >>> import torch
        >>> model = with_odd_head(nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3)))
        >>> logits, odd_logits = model.train()(torch.zeros(2, 5))
        >>> tuple(logits.shape), tuple(odd_logits.shape)
        ((2, 3), (2, 3))
        >>> tuple(model.eval()(torch.zeros(2, 5)).shape)
        (2, 3)
    """
    if isinstance(model, OddHeadModel):
        raise ValueError("the model already has an odd-class head; use it as it is")
    given = (features, width, classes)
    if features is not None and width is not None and classes is not None:
        if not any(module is features for module in model.modules()):
            raise ValueError(
                "features must be a part of the model, but it is not among model.modules(); pass "
                "the submodule itself, e.g. features=model.backbone"
            )
        return OddHeadModel(model, features, width=width, classes=classes, is_classifier=False)
    if any(value is not None for value in given):
        raise ValueError(
            "features, width and classes go together, got "
            f"features={type(features).__name__}, {width=}, {classes=}; give all three or none"
        )
    leaves = [module for module in model.modules() if not any(module.children())]
    last = leaves[-1]
    if not isinstance(last, nn.Linear):
        raise ValueError(
            f"the last layer of the model must be nn.Linear, got {type(last).__name__}; return "
            "plain logits, or pass the module that outputs its features: with_odd_head(model, "
            "features=model.backbone, width=512, classes=10)"
        )
    return OddHeadModel(
        model, last, width=last.in_features, classes=last.out_features, is_classifier=True
    )


def without_odd_head(model: nn.Module) -> nn.Module:
    """Return the classifier that ``with_odd_head`` wrapped, with its original parameter names.

    A model without an odd-class head is returned as is.
    """
    if not isinstance(model, OddHeadModel):
        return model
    for module in model.model.modules():
        for key, hook in list(module._forward_hooks.items()):
            if hook is model._tap:
                del module._forward_hooks[key]
    return model.model


class _Tap:
    """A forward hook that records the input and output of a module.

    It is an object and not a closure, so a copied or pickled model has its own.
    """

    def __init__(self) -> None:
        self._recorded: tuple[Any, Any] = (None, None)

    def __call__(self, module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        self._recorded = (inputs[0], output)

    def drain(self) -> tuple[Any, Any]:
        """Return the last recorded input and output, and release them."""
        recorded, self._recorded = self._recorded, (None, None)
        return recorded
