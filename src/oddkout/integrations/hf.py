"""Odd-k-out for ``transformers.Trainer``: our batch samplers in its loader, and a loss function."""

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader

from oddkout.losses import OddKOutLoss
from oddkout.samplers import KeyedBatchSampler


class BatchSamplerMixin:
    """Make ``Trainer`` use one of our batch samplers, on any number of processes.

    Put it before ``Trainer`` in the bases of a class and pass the sampler. It replaces
    ``per_device_train_batch_size`` and ``dataloader_drop_last``; the rest of the loader (collator,
    workers, unused columns) is set up by ``Trainer`` as usual. Do not set ``num_replicas`` and
    ``rank`` of the sampler: ``Trainer`` distributes whole batches itself.

    Args:
        *args: Arguments of ``Trainer``.
        batch_sampler: ``ClassBalancedBatchSampler`` or ``OddKOutBatchSampler`` of the training
            labels.
        **kwargs: Keyword arguments of ``Trainer``.

    Example:
        >>> from transformers import Trainer
        >>> class OddKOutTrainer(BatchSamplerMixin, Trainer):
        ...     pass
    """

    def __init__(self, *args: Any, batch_sampler: KeyedBatchSampler, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if batch_sampler.num_replicas > 1:
            raise ValueError(
                "Trainer distributes the batches of an epoch itself, but the batch sampler gives "
                f"only those of rank {batch_sampler.rank} of {batch_sampler.num_replicas}; do not "
                "set num_replicas and rank"
            )
        if self.accelerator.split_batches:  # type: ignore[attr-defined]  # of Trainer
            raise ValueError(
                "batches must go to one process each, but accelerator_config has "
                "split_batches=True, which cuts sets and pools apart; leave it at False"
            )
        self.batch_sampler = batch_sampler
        # A model wrapped by with_odd_head takes any keyword, so Trainer would pass it
        # num_items_in_batch, which the inner model may not accept. Only the loss needs it.
        self.model_accepts_loss_kwargs = False

    def get_train_dataloader(self) -> Any:
        """The loader that ``Trainer`` builds, with our batch sampler."""
        default = super().get_train_dataloader()  # type: ignore[misc]  # of Trainer
        loader = DataLoader(
            default.dataset,
            batch_sampler=self.batch_sampler,
            collate_fn=default.collate_fn,
            num_workers=default.num_workers,
            pin_memory=default.pin_memory,
            worker_init_fn=default.worker_init_fn,
            multiprocessing_context=default.multiprocessing_context,
            prefetch_factor=default.prefetch_factor,
            persistent_workers=default.persistent_workers,
        )
        prepared = self.accelerator.prepare(loader)  # type: ignore[attr-defined]  # of Trainer
        if prepared.batch_sampler is not self.batch_sampler:
            # When Trainer resumes within an epoch, it wraps this again and calls set_epoch on the
            # sampler found here. Without one it would repeat the batches of epoch 0.
            prepared.batch_sampler.sampler = self.batch_sampler
        return prepared


class TrainerLoss:
    """Wrap an ``OddKOutLoss`` for ``Trainer(compute_loss_func=...)``.

    ``Trainer`` expects a sum divided by ``num_items_in_batch``. It therefore does not divide by the
    number of gradient-accumulation steps, and it multiplies by the number of processes. With a
    plain ``criterion(outputs.logits, labels)``, the effective learning rate would be that many
    times too large. This loss weighs each batch by its share of the examples in the update.

    Evaluation batches are not sets, so there the loss is cross-entropy: ``eval_loss`` is the NLL
    of the classifier.

    Args:
        criterion: The loss, with reduction ``"mean"``.

    Example:
        >>> loss = TrainerLoss(OddKOutLoss(k=1))
        >>> labels = torch.tensor([0, 0, 1, 1, 2, 2])
        >>> round(loss({"logits": torch.zeros(6, 3)}, labels, num_items_in_batch=12).item(), 4)
        0.5493
    """

    def __init__(self, criterion: OddKOutLoss) -> None:
        if criterion.reduction != "mean":
            raise ValueError(
                "Trainer needs a mean over sets, which is weighted by examples, got a loss with "
                f"reduction={criterion.reduction!r}; leave it at 'mean'"
            )
        self.criterion = criterion

    def __call__(
        self, outputs: Any, labels: Tensor, num_items_in_batch: Tensor | int | None = None
    ) -> Tensor:
        """Loss of one batch, weighted by its share of the update.

        Args:
            outputs: Output of the model: a mapping with ``logits`` (and ``odd_logits``), logits,
                or a pair of either of these and the odd-class logits.
            labels: Class of each example.
            num_items_in_batch: Number of examples in all batches of the update.
        """
        logits, odd_logits = _both_logits(outputs)
        if torch.is_grad_enabled():
            loss: Tensor = self.criterion(logits, labels, odd_logits=odd_logits)
        else:
            loss = F.cross_entropy(logits.float(), labels)
        return loss if num_items_in_batch is None else loss * (len(labels) / num_items_in_batch)


def _both_logits(outputs: Any) -> tuple[Tensor, Tensor | None]:
    """Logits, and odd-class logits if there are any."""
    if isinstance(outputs, Mapping):
        return outputs["logits"], outputs.get("odd_logits")
    if isinstance(outputs, tuple):
        first, *rest = outputs
        logits, _ = _both_logits(first)
        has_odd = len(rest) == 1 and isinstance(rest[0], Tensor) and rest[0].shape == logits.shape
        return logits, rest[0] if has_odd else None
    return outputs, None
