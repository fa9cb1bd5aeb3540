"""What ``transformers.Trainer`` needs: our batches in its loader, and a loss as it wants one."""

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader

from oddkout.losses import OddKOutLoss
from oddkout.samplers import KeyedBatchSampler


class BatchSamplerMixin:
    """Gives ``Trainer`` the batches of one of our samplers, on any number of processes.

    Mix it in before ``Trainer`` and pass the sampler; ``per_device_train_batch_size`` and
    ``dataloader_drop_last`` have no say any more. Everything else of the loader (collator, workers,
    unused columns) is what ``Trainer`` makes of its arguments. Leave ``num_replicas`` and ``rank``
    of the sampler alone: batches are dealt out whole.

    Args:
        *args: For ``Trainer``.
        batch_sampler: ``ClassBalancedBatchSampler`` or ``OddKOutBatchSampler`` of the training
            labels.
        **kwargs: For ``Trainer``.

    Example:
        >>> from transformers import Trainer
        >>> class OddKOutTrainer(BatchSamplerMixin, Trainer):
        ...     pass
    """

    def __init__(self, *args: Any, batch_sampler: KeyedBatchSampler, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if batch_sampler.num_replicas > 1:
            raise ValueError(
                "Trainer deals out the batches of an epoch itself, but the batch sampler gives "
                f"only those of rank {batch_sampler.rank} of {batch_sampler.num_replicas}; leave "
                "num_replicas and rank away"
            )
        if self.accelerator.split_batches:  # type: ignore[attr-defined]  # of Trainer
            raise ValueError(
                "batches must go to one process each, but accelerator_config has "
                "split_batches=True, which cuts sets and pools apart; leave it at False"
            )
        self.batch_sampler = batch_sampler
        # A wrapped model (with_odd_head) takes any keyword, so that Trainer would pass
        # num_items_in_batch on to one that does not know it. The loss function gets it anyway.
        self.model_accepts_loss_kwargs = False

    def get_train_dataloader(self) -> Any:
        """The loader that ``Trainer`` builds, with our batches."""
        usual = super().get_train_dataloader()  # type: ignore[misc]  # of Trainer
        loader = DataLoader(
            usual.dataset,
            batch_sampler=self.batch_sampler,
            collate_fn=usual.collate_fn,
            num_workers=usual.num_workers,
            pin_memory=usual.pin_memory,
            worker_init_fn=usual.worker_init_fn,
            multiprocessing_context=usual.multiprocessing_context,
            prefetch_factor=usual.prefetch_factor,
            persistent_workers=usual.persistent_workers,
        )
        prepared = self.accelerator.prepare(loader)  # type: ignore[attr-defined]  # of Trainer
        if prepared.batch_sampler is not self.batch_sampler:
            # When Trainer resumes in mid-epoch it wraps this once more and then finds no sampler to
            # tell the epoch, unless there is one here: it would repeat batches of epoch 0.
            prepared.batch_sampler.sampler = self.batch_sampler
        return prepared


class TrainerLoss:
    """An ``OddKOutLoss`` as ``Trainer(compute_loss_func=...)`` wants it.

    Since ``Trainer`` expects sums over ``num_items_in_batch``, it divides no mean by the steps of
    gradient accumulation and multiplies every loss by the number of processes: a plain
    ``criterion(outputs.logits, labels)`` would train with as many times the learning rate. Here a
    batch weighs as much as its share of the examples in the whole update.

    In evaluation, where batches are no sets, the loss is cross-entropy: ``eval_loss`` is the NLL of
    the classifier.

    Args:
        criterion: The loss; its reduction must be ``"mean"``.

    Example:
        >>> loss = TrainerLoss(OddKOutLoss(k=1))
        >>> labels = torch.tensor([0, 0, 1, 1, 2, 2])
        >>> round(loss({"logits": torch.zeros(6, 3)}, labels, num_items_in_batch=12).item(), 4)
        0.5493
    """

    def __init__(self, criterion: OddKOutLoss) -> None:
        if criterion.reduction != "mean":
            raise ValueError(
                "Trainer needs a mean over sets, which it weighs by examples, got a loss with "
                f"reduction={criterion.reduction!r}; leave it at 'mean'"
            )
        self.criterion = criterion

    def __call__(
        self, outputs: Any, labels: Tensor, num_items_in_batch: Tensor | int | None = None
    ) -> Tensor:
        """Loss of one batch, as a share of the update's.

        Args:
            outputs: What the model returned: a mapping with ``logits`` (and ``odd_logits``), plain
                logits, or either of these with the odd-class logits beside it.
            labels: Class of every example.
            num_items_in_batch: Number of examples in all batches of the update together.
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
