"""Scripts that train on two gloo processes with Lightning, Accelerate and Trainer."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from gloo import ENDING

import oddkout

SOURCE = str(Path(oddkout.__file__).parents[1])
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


EVERY_LAYOUT = pytest.mark.parametrize("layout", LAYOUTS)


def launched(stack, out):
    """Launch a stack, and return what each rank of it found."""
    program, launcher, needed = STACKS[stack]
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        pytest.skip(f"{missing} are not installed")
    (out / "script.py").write_text(COMMON + program + ENDING)
    done = subprocess.run(
        [sys.executable, *launcher, out / "script.py", out],
        env=os.environ | {"PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1"},
        cwd=out,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads((out / f"{rank}.json").read_text()) for rank in (0, 1)]
