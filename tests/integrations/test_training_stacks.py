"""Training stacks of others, live: two processes with gloo, and what reached the model in each."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from gloo import ENDING

from oddkout import OddKOutBatchSampler, OddKOutLoss, evaluate

K = 2
LABELS = torch.tensor([0] * 60 + [1] * 20 + [2] * 8 + [3] * 4 + [4] * 2)
LAYOUTS = ["paper", "pool"]

COMMON = """
import json, sys, torch, oddkout as oko
from pathlib import Path
from torch.utils.data import DataLoader, Dataset, TensorDataset
K, out = 2, Path(sys.argv[1])
labels = torch.tensor([0] * 60 + [1] * 20 + [2] * 8 + [3] * 4 + [4] * 2)
def sampler(layout):
    if layout == "paper":
        return oko.OddKOutBatchSampler(labels, k=K, sets_per_batch=8, seed=0)
    return oko.ClassBalancedBatchSampler(
        labels, classes_per_batch=4, examples_per_class=2, batches=12, seed=0)
def verdict(report):
    return [report.is_whole, report.is_even, report.ranks_differ, report.epochs_differ,
            report.is_uniform, len(report.batches)]
found = {}
"""

LIGHTNING = """
import lightning as L
from lightning.pytorch.callbacks import ModelCheckpoint
from torchdata.stateful_dataloader import StatefulDataLoader
from oddkout.integrations.lightning import CalibrationCallback
g = torch.Generator().manual_seed(0)
validation = TensorDataset(torch.randn(37, 1, generator=g), torch.arange(37) % 5)

class Module(L.LightningModule):
    def __init__(self, layout, is_check=False):
        super().__init__()
        torch.manual_seed(0)
        self.layout, self.is_check, self.seen = layout, is_check, []
        self.model, self.criterion = torch.nn.Linear(1, 5), oko.OddKOutLoss(K, layout=layout)
    def train_dataloader(self):
        return StatefulDataLoader(oko.testing.Indices(labels), batch_sampler=sampler(self.layout))
    def val_dataloader(self):
        return DataLoader(validation, batch_size=8)
    def on_train_start(self):
        if self.is_check:
            loader = self.trainer.train_dataloader
            self.report = oko.testing.check_loader(loader, labels, K, layout=self.layout)
    def training_step(self, batch, number):
        index, y = batch
        self.seen.append([self.current_epoch, index.tolist()])
        return self.criterion(self.model(index[:, None] / 100), y)
    def validation_step(self, batch, number):
        x, y = batch
        return {"logits": self.model(x), "labels": y}
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

def trainer(**settings):
    return L.Trainer(accelerator="cpu", devices=2, strategy="ddp", default_root_dir=out,
        enable_progress_bar=False, enable_model_summary=False, **settings)

quiet = {"logger": False, "enable_checkpointing": False, "limit_val_batches": 0}
for layout in ("paper", "pool"):
    checked, whole, resumed = Module(layout, is_check=True), Module(layout), Module(layout)
    trainer(max_steps=1, **quiet).fit(checked)
    keep = ModelCheckpoint(dirpath=out / layout, every_n_train_steps=8, save_top_k=-1,
        filename="{step}")
    first = trainer(max_epochs=3, callbacks=[keep, CalibrationCallback(replicates=100)])
    first.fit(whole)
    trainer(max_epochs=3, **quiet).fit(resumed, ckpt_path=out / layout / "step=8.ckpt")
    found[layout] = {"check": verdict(checked.report), "whole": whole.seen,
        "resumed": resumed.seen, "weights": [p.tolist() for p in whole.model.parameters()],
        "logged": {name: value.item() for name, value in first.callback_metrics.items()}}
(out / f"{first.global_rank}.json").write_text(json.dumps(found))
"""

ACCELERATE = """
from accelerate import Accelerator, skip_first_batches
accelerator = Accelerator(cpu=True)

def loader(layout):
    data = oko.testing.Indices(labels)
    return accelerator.prepare(DataLoader(data, batch_sampler=sampler(layout)))

def train(layout, epoch, done):
    seen, batches = [], loader(layout)
    model, criterion = torch.nn.Linear(1, 5), oko.OddKOutLoss(K, layout=layout)
    model, optimizer = accelerator.prepare(model, torch.optim.SGD(model.parameters(), lr=0.1))
    for epoch in range(epoch, 3):
        batches.set_epoch(epoch)
        for index, y in skip_first_batches(batches, done):
            seen.append([epoch, index.tolist()])
            optimizer.zero_grad()
            accelerator.backward(criterion(model(index[:, None] / 100), y))
            optimizer.step()
        done = 0
    return seen

for layout in ("paper", "pool"):
    report = oko.testing.check_loader(loader(layout), labels, K, layout=layout)
    found[layout] = {"check": verdict(report), "whole": train(layout, 0, 0),
        "resumed": train(layout, 1, 2)}
(out / f"{accelerator.process_index}.json").write_text(json.dumps(found))
"""

TRAINER = """
from transformers import Trainer, TrainingArguments
from oddkout.integrations.hf import BatchSamplerMixin, TrainerLoss

class Examples(Dataset):
    def __len__(self):
        return len(labels)
    def __getitem__(self, i):
        return {"index": i, "x": torch.tensor([i / 100]), "labels": int(labels[i])}

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.linear, self.seen, self.passes = torch.nn.Linear(1, 5), [], 6
    def forward(self, x, index, labels=None):
        if self.training:
            self.seen.append([len(self.seen) // self.passes, index.tolist()])
        return {"logits": self.linear(x)}

class OddKOutTrainer(BatchSamplerMixin, Trainer):
    pass

def trained(layout, model, resume=None, loss=TrainerLoss, **settings):
    arguments = TrainingArguments(output_dir=out / layout, use_cpu=True, report_to="none",
        disable_tqdm=True, save_strategy="steps", save_steps=8, save_only_model=False,
        learning_rate=0.1, optim="sgd", lr_scheduler_type="constant", max_grad_norm=0.0,
        **{"num_train_epochs": 3} | settings)
    trainer = OddKOutTrainer(model=model, args=arguments, train_dataset=Examples(),
        eval_dataset=Examples(), batch_sampler=sampler(layout),
        compute_loss_func=loss(oko.OddKOutLoss(K, layout=layout)))
    if settings.get("max_steps") != 0:
        trainer.train(resume_from_checkpoint=resume)
    return trainer

class HeadedModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.last = torch.nn.Linear(1, 8), torch.nn.Linear(8, 5)
    def forward(self, x):
        return {"logits": self.last(self.hidden(x))}

class Bare(Examples):
    def __getitem__(self, i):
        return {"x": torch.tensor([i / 100]), "labels": int(labels[i])}

def trained_with_head():
    plain = HeadedModel()
    model = oko.with_odd_head(plain, features=plain.hidden, width=8, classes=5)
    before = model.odd_head.weight.detach().clone()
    arguments = TrainingArguments(output_dir=out / "head", use_cpu=True, report_to="none",
        disable_tqdm=True, save_strategy="no", max_steps=2, learning_rate=0.1,
        remove_unused_columns=False, label_names=["labels"])
    trainer = OddKOutTrainer(model=model, args=arguments, train_dataset=Bare(),
        eval_dataset=Bare(), batch_sampler=sampler("pool"),
        compute_loss_func=TrainerLoss(oko.OddKOutLoss(K)))
    trainer.train()
    shape = list(trainer.predict(Bare()).predictions.shape)
    return [bool((model.odd_head.weight != before).any()), shape]

class Plain:  # what one would write without reading Trainer's source
    def __init__(self, criterion):
        self.criterion = criterion
    def __call__(self, outputs, labels, num_items_in_batch=None):
        return self.criterion(outputs["logits"], labels)

for layout in ("paper", "pool"):
    checked = trained(layout, Model(), max_steps=0)
    report = oko.testing.check_loader(checked.get_train_dataloader(), labels, K, layout=layout)
    whole, resumed = Model(), Model()
    trainer = trained(layout, whole)
    # resumed.seen has to count epochs on from batch 8
    resumed.seen = [None] * 8
    trained(layout, resumed, resume=str(out / layout / "checkpoint-8"))
    found[layout] = {"check": verdict(report), "whole": whole.seen, "resumed": resumed.seen[8:],
        "eval_loss": trainer.evaluate()["eval_loss"],
        "weights": [p.tolist() for p in whole.parameters()]}
found["head"] = trained_with_head()
for name, loss in (("ours", TrainerLoss), ("plain", Plain)):
    model = Model()
    before = [p.detach().clone() for p in model.parameters()]
    trained("paper", model, loss=loss, max_steps=1, gradient_accumulation_steps=2)
    found[name] = [((b - p) / 0.1).tolist() for b, p in zip(before, model.parameters())]
(out / f"{trainer.args.process_index}.json").write_text(json.dumps(found))
"""

TORCHRUN = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
# accelerate's own launcher starts several processes only as for GPUs; the script says cpu=True.
ACCELERATE_LAUNCH = ["-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2"]
ACCELERATE_LAUNCH += ["--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"]
ACCELERATE_LAUNCH += ["--main_process_port", "0"]
STACKS = {
    "lightning": (LIGHTNING, [], ["lightning", "torchdata", "matplotlib"]),
    "accelerate": (ACCELERATE, ACCELERATE_LAUNCH, ["accelerate"]),
    "trainer": (TRAINER, TORCHRUN, ["transformers", "accelerate"]),
}


@pytest.fixture(scope="module")
def launch(tmp_path_factory):
    """Launch a stack once, and return what each rank of it found."""
    results = {}

    def launched(stack):
        if stack not in results:
            program, launcher, needed = STACKS[stack]
            missing = [name for name in needed if find_spec(name) is None]
            if missing:
                pytest.skip(f"{missing} are not installed")
            out = tmp_path_factory.mktemp(stack)
            (out / "script.py").write_text(COMMON + program + ENDING)
            source = str(Path(__file__).parents[2] / "src")
            done = subprocess.run(
                [sys.executable, *launcher, out / "script.py", out],
                env=os.environ | {"PYTHONPATH": source, "OMP_NUM_THREADS": "1"},
                cwd=out,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
            assert done.returncode == 0, done.stderr[-3000:]
            ranks = [json.loads((out / f"{rank}.json").read_text()) for rank in (0, 1)]
            results[stack] = ranks, out
        return results[stack]

    return launched


EVERY_STACK = pytest.mark.parametrize("stack", list(STACKS))
EVERY_LAYOUT = pytest.mark.parametrize("layout", LAYOUTS)


@EVERY_STACK
@EVERY_LAYOUT
def test_no_set_is_broken_and_ranks_and_epochs_differ(launch, stack, layout):
    ranks, _ = launch(stack)
    epochs = {}
    for rank, found in enumerate(ranks):
        for epoch, batch in found[layout]["whole"]:
            epochs.setdefault((rank, epoch), []).append(tuple(batch))
            classes = LABELS[batch]
            if layout == "paper":
                for pair, partner, *odd in classes.view(-1, K + 2).tolist():
                    assert pair == partner
                    assert len({pair, *odd}) == K + 1
            else:
                assert len(set(batch)) == 8
                assert sorted(classes.bincount(minlength=5).tolist()) == [0, 2, 2, 2, 2]
    assert [len(batches) for batches in epochs.values()] == [6] * 6
    assert len({batch for batches in epochs.values() for batch in batches}) == 36


@EVERY_STACK
@EVERY_LAYOUT
def test_the_check_that_users_run_agrees(launch, stack, layout):
    ranks, _ = launch(stack)
    for found in ranks:
        assert found[layout]["check"] == [True, True, True, True, True, 2]


@EVERY_STACK
@EVERY_LAYOUT
def test_an_epoch_resumed_after_two_batches_gives_the_remaining_ones(launch, stack, layout):
    ranks, _ = launch(stack)
    for found in ranks:
        assert found[layout]["whole"][8][0] == 1, "batch 8 is in epoch 1"
        assert found[layout]["resumed"] == found[layout]["whole"][8:]
        assert len(found[layout]["resumed"]) == 10


@EVERY_LAYOUT
def test_the_callback_logs_what_one_process_measures_on_all_examples_once(launch, layout):
    ranks, out = launch("lightning")
    assert ranks[0][layout]["weights"] == ranks[1][layout]["weights"]
    weight, bias = map(torch.tensor, ranks[0][layout]["weights"])
    x = torch.randn(37, 1, generator=torch.Generator().manual_seed(0))
    report = evaluate(x @ weight.T + bias, torch.arange(37) % 5, replicates=100)
    for found in ranks:
        logged = found[layout]["logged"]
        for name in ("accuracy", "nll", "brier", "ece"):
            assert logged[f"val_{name}"] == pytest.approx(report[name].value, rel=1e-5)
        assert logged["val_ece_null"] == pytest.approx(report["ece"].null.mean, rel=0.1)
    pictures = sorted(out.glob("lightning_logs/*/reliability/*.png"))
    assert [p.name for p in pictures] == ["val-12.png", "val-18.png", "val-6.png"] * 2


@EVERY_LAYOUT
def test_trainer_evaluates_the_nll_of_the_classifier(launch, layout):
    ranks, _ = launch("trainer")
    weight, bias = map(torch.tensor, ranks[0][layout]["weights"])
    logits = torch.arange(94)[:, None] / 100 @ weight.T + bias
    nll = torch.nn.functional.cross_entropy(logits, LABELS).item()
    # Trainer averages batches of up to 16, and repeats examples to fill the last ones up.
    assert ranks[0][layout]["eval_loss"] == pytest.approx(nll, rel=0.05)


def test_trainer_trains_an_odd_class_head_and_predicts_without_it(launch):
    ranks, _ = launch("trainer")
    assert ranks[0]["head"] == ranks[1]["head"] == [True, [94, 5]]


def test_the_mixin_refuses_what_would_deal_batches_out_twice_or_cut_them():
    from oddkout.integrations.hf import BatchSamplerMixin

    class Base:
        def __init__(self, split_batches):
            self.accelerator = SimpleNamespace(split_batches=split_batches)

    class Mixed(BatchSamplerMixin, Base):
        pass

    sampler = OddKOutBatchSampler(LABELS, k=K, sets_per_batch=8)
    assert Mixed(False, batch_sampler=sampler).batch_sampler is sampler
    with pytest.raises(ValueError, match="split_batches=True, which cuts sets"):
        Mixed(True, batch_sampler=sampler)
    of_rank = OddKOutBatchSampler(LABELS, k=K, sets_per_batch=8, num_replicas=2, rank=1)
    with pytest.raises(ValueError, match="only those of rank 1 of 2; do not set num_replicas"):
        Mixed(False, batch_sampler=of_rank)


def test_the_loss_of_trainer_must_be_a_mean():
    from oddkout.integrations.hf import TrainerLoss

    with pytest.raises(ValueError, match="got a loss with reduction='sum'"):
        TrainerLoss(OddKOutLoss(reduction="sum"))


def test_an_update_of_trainer_is_that_of_one_process_on_all_its_batches(launch):
    """Two processes accumulate two batches each: the gradient is the mean over all four."""
    ranks, _ = launch("trainer")
    torch.manual_seed(0)
    linear = torch.nn.Linear(1, 5)
    sampler = iter(OddKOutBatchSampler(LABELS, k=K, sets_per_batch=8, seed=0))
    criterion = OddKOutLoss(K, layout="paper")
    batches = [torch.tensor(next(sampler)) for _ in range(4)]
    losses = [criterion(linear(batch[:, None] / 100), LABELS[batch]) for batch in batches]
    expected = torch.autograd.grad(sum(losses) / 4, list(linear.parameters()))
    for rank in ranks:
        for name, factor in (("ours", 1), ("plain", 4)):
            for found, gradient in zip(rank[name], expected, strict=True):
                torch.testing.assert_close(
                    torch.tensor(found), factor * gradient, rtol=1e-4, atol=1e-5
                )
