"""The loss of one update, for every method."""

import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from oddkout.checks import Number
from oddkout.fitting.methods import Method
from oddkout.fitting.mixing import Mixing
from oddkout.losses import focal_loss
from oddkout.losses.set_loss import unchecked_set_losses


def update_loss(
    method: Method,
    output: Tensor | tuple[Tensor, Tensor],
    labels: Int[Tensor, " batch"],
    sets: Int[Tensor, "sets members"] | None,
    *,
    head_weight: Number,
    weight: Float[Tensor, " batch"] | None,
    offset: Float[Tensor, "*rows classes"] | None,
    noise: Int[Tensor, " batch"] | None,
    margins: Float[Tensor, " classes"] | None = None,
    mixing: Mixing | None = None,
) -> Float[Tensor, ""]:
    """Loss of a batch with everything that was drawn for it.

    Args:
        output: Logits of the batch, or the pair of logits of both heads.
        labels: Classes of the batch.
        sets: Sets in the batch, for methods that use sets.
        head_weight: Weight of the second head's loss; a head of weight 0 is not computed.
        weight: Weight of each example.
        offset: Added to logits, or to summed logits, of all rows or of each.
        noise: Random labels, for the second head of the control.
        margins: By how much the logit of the true class is lowered, for each class.
        mixing: How the examples were mixed.
    """
    logits, second = output if isinstance(output, tuple) else (output, None)
    if head_weight == 0:
        second = None
    if method.loss == "sets":
        assert sets is not None, "a method with a set loss draws sets"
        return unchecked_set_losses(
            logits,
            labels[sets],
            sets,
            targets=method.targets,
            odd_logits=second,
            odd_weight=head_weight,
            offset=offset,
        ).mean()
    if offset is not None:
        logits = logits + offset.to(logits)
    if margins is not None:
        logits = logits - F.one_hot(labels, logits.shape[1]) * margins.to(logits)
    if mixing is not None:
        share, partners = mixing.label_share.to(logits), mixing.partners.to(labels.device)
        own = F.cross_entropy(logits, labels, reduction="none")
        other = F.cross_entropy(logits, labels[partners], reduction="none")
        loss = (share * own + (1 - share) * other).mean()
    elif method.loss == "focal":
        loss = focal_loss(logits, labels, gamma=method.gamma)
    elif weight is not None:
        loss = (weight.to(logits) * F.cross_entropy(logits, labels, reduction="none")).mean()
    else:
        loss = F.cross_entropy(logits, labels, label_smoothing=float(method.smoothing))
    if second is not None and noise is not None:
        loss = loss + head_weight * F.cross_entropy(second, noise.to(labels.device))
    return loss
