"""Odd-k-out in transformers' Trainer, on a small, imbalanced set of digits."""

import tempfile

import torch
from torch import nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments, set_seed

import oddkout as oko
from oddkout.integrations.hf import BatchSamplerMixin, TrainerLoss

data = oko.load_data("digits")
few = oko.subset(data.y_train, examples=200, distribution="heavy-tailed", seed=0)


class Digits(Dataset):
    """Examples in the form that Trainer expects: mappings with ``labels``."""

    def __init__(self, x, y):
        self.x, self.y = oko.as_tensor(x), torch.as_tensor(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        return {"x": self.x[index], "labels": self.y[index]}


class Classifier(nn.Module):
    """Any model that returns ``logits``; it never sees a set."""

    def __init__(self):
        super().__init__()
        hidden = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU())
        self.layers = nn.Sequential(hidden, nn.Linear(128, 10))

    def forward(self, x, labels=None):  # Trainer requires an argument of this name
        return {"logits": self.layers(x)}


class OddKOutTrainer(BatchSamplerMixin, Trainer):
    """Trainer with our batches."""


if __name__ == "__main__":
    set_seed(0)
    train, test = Digits(data.x_train[few], data.y_train[few]), Digits(data.x_test, data.y_test)
    arguments = TrainingArguments(output_dir=tempfile.mkdtemp(), num_train_epochs=4,
        learning_rate=1e-2, report_to="none", disable_tqdm=True, save_strategy="no",
        use_cpu=True)  # fmt: skip
    sampler = oko.ClassBalancedBatchSampler(train.y, examples_per_class=3, batches=100, seed=0)
    trainer = OddKOutTrainer(Classifier(), arguments, train_dataset=train, batch_sampler=sampler,
        compute_loss_func=TrainerLoss(oko.OddKOutLoss(k=1)))  # fmt: skip
    trainer.train()
    report = oko.evaluate(trainer.predict(test).predictions, data.y_test)
    print(f"accuracy {report['accuracy'].value:.3f}, ECE {report['ece'].value:.3f}")
    print(report.verdict)
