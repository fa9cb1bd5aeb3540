"""A Lightning callback that logs calibration metrics after every validation."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from torch import Tensor
from torch.utils.data import DistributedSampler

from oddkout.evaluation import Evaluation, evaluate


class CalibrationCallback(Callback):
    """Log calibration metrics and the reliability diagram at the end of validation.

    ``validation_step`` must return a mapping with ``logits`` and ``labels``. With several
    processes, the predictions of all are evaluated together. Examples that Lightning repeats to
    fill up the last batches count once, so the numbers equal those of a single process.

    Every metric is logged as ``<prefix>_<name>``. For a calibration error, ``..._null`` is the
    score of a perfectly calibrated model on as many examples, and ``..._p`` the p-value. The
    diagram goes to loggers with a method ``add_figure``, such as TensorBoard's, and to
    ``<log directory>/reliability/``.

    Args:
        metrics: Names of metrics, see ``oddkout.evaluate``.
        prefix: Prefix of all logged names.
        has_diagram: Whether to draw the diagram; needs matplotlib.
        bins: Number of bins of every binned error.
        replicates: Number of draws for the null level.

    Attributes:
        evaluation: The most recent evaluation.
    """

    def __init__(
        self,
        *,
        metrics: Sequence[str] = ("accuracy", "nll", "brier", "ece"),
        prefix: str = "val",
        has_diagram: bool = True,
        bins: int = 15,
        replicates: int = 1000,
    ) -> None:
        if has_diagram and find_spec("matplotlib") is None:
            raise ValueError(
                "the reliability diagram needs matplotlib; run: pip install 'oddkout[plot]', or "
                "pass has_diagram=False"
            )
        self.metrics = tuple(metrics)
        self.prefix = prefix
        self.has_diagram = has_diagram
        self.bins = bins
        self.replicates = replicates
        self.evaluation: Evaluation | None = None
        self._batches: dict[int, list[tuple[Tensor, Tensor]]] = defaultdict(list)

    def on_validation_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Discard batches left over from an interrupted validation."""
        self._batches.clear()

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Keep the predictions of a batch."""
        if not (isinstance(outputs, Mapping) and {"logits", "labels"} <= outputs.keys()):
            returned = list(outputs) if isinstance(outputs, Mapping) else type(outputs).__name__
            raise ValueError(
                f"validation_step must return a mapping with 'logits' and 'labels', got {returned};"
                " end it with: return {'logits': logits, 'labels': y}"
            )
        predictions = (outputs["logits"].detach().float().cpu(), outputs["labels"].detach().cpu())
        self._batches[dataloader_idx].append(predictions)

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Evaluate and log."""
        batches, self._batches = self._batches, defaultdict(list)
        if trainer.sanity_checking:
            return
        for number, parts in batches.items():
            name = self.prefix if len(batches) == 1 else f"{self.prefix}_{number}"
            logits, labels = self._gathered(trainer, number, parts)
            self.evaluation = evaluate(logits, labels, bins=self.bins, replicates=self.replicates)
            # All processes hold the same values; averaging them avoids a warning by Lightning.
            pl_module.log_dict(self._values(name), sync_dist=trainer.world_size > 1)
            log_directory = trainer.log_dir or trainer.default_root_dir  # all processes must ask
            if self.has_diagram and trainer.is_global_zero:
                self._log_diagram(trainer, name, Path(log_directory) / "reliability")

    def _values(self, name: str) -> dict[str, float]:
        """All values to log, by name."""
        assert self.evaluation is not None, "evaluated before"
        values = {}
        for metric in self.metrics:
            measured = self.evaluation[metric]
            values[f"{name}_{metric}"] = measured.value
            if measured.null is not None:
                values[f"{name}_{metric}_null"] = measured.null.mean
                values[f"{name}_{metric}_p"] = measured.null.p_value
        return values

    def _gathered(
        self, trainer: Trainer, number: int, parts: list[tuple[Tensor, Tensor]]
    ) -> tuple[Tensor, Tensor]:
        """Predictions of all processes, each example once."""
        logits, labels = (torch.cat(values) for values in zip(*parts, strict=True))
        sampler = getattr(_loader(trainer, number), "sampler", None)
        if isinstance(sampler, DistributedSampler):
            # Ranks take examples in turn; the sampler then repeats some to give all ranks as many.
            examples: Any = sampler.dataset
            mine = len(range(sampler.rank, len(examples), sampler.num_replicas))
            logits, labels = logits[:mine], labels[:mine]
        if trainer.world_size == 1:
            return logits, labels
        gathered: list[Any] = [None] * trainer.world_size
        torch.distributed.all_gather_object(gathered, (logits, labels))
        all_logits, all_labels = zip(*gathered, strict=True)
        return torch.cat(all_logits), torch.cat(all_labels)

    def _log_diagram(self, trainer: Trainer, name: str, directory: Path) -> None:
        """Draw the diagram, save it, and pass it to all loggers that accept figures."""
        from matplotlib.figure import Figure

        from oddkout.report.figures import draw_reliability, style

        assert self.evaluation is not None, "evaluated before"
        with style():
            figure = Figure()
            draw_reliability(self.evaluation.reliability, figure.subplots(), label=name)
            directory.mkdir(parents=True, exist_ok=True)
            figure.savefig(directory / f"{name}-{trainer.global_step}.png")
        for logger in trainer.loggers:
            add_figure = getattr(getattr(logger, "experiment", None), "add_figure", None)
            if callable(add_figure):
                add_figure(f"{name}_reliability", figure, global_step=trainer.global_step)


def _loader(trainer: Trainer, number: int) -> Any:
    """The validation loader of this number."""
    loaders = trainer.val_dataloaders
    if isinstance(loaders, Mapping):
        loaders = list(loaders.values())
    return loaders[number] if isinstance(loaders, list) else loaders
