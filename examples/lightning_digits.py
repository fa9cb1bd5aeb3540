"""Odd-k-out in Lightning, on a small, imbalanced set of digits."""

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import oddkout as oko
from oddkout.integrations.lightning import CalibrationCallback

data = oko.load_data("digits")
few = oko.subset(data.y_train, examples=200, distribution="heavy-tailed", seed=0)
x, y = oko.as_tensor(data.x_train)[few], torch.as_tensor(data.y_train)[few]
x_test, y_test = oko.as_tensor(data.x_test), torch.as_tensor(data.y_test)


class Digits(L.LightningModule):
    """A classifier that learns from sets; only the loader and the loss know about them."""

    def __init__(self):
        super().__init__()
        hidden = nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU())
        self.model = nn.Sequential(hidden, nn.Linear(128, 10))
        self.criterion = oko.OddKOutLoss(k=1)

    def train_dataloader(self):  # build it here, so that Lightning can set the sampler's rank
        sampler = oko.ClassBalancedBatchSampler(y, examples_per_class=3, batches=100, seed=0)
        return DataLoader(TensorDataset(x, y), batch_sampler=sampler)

    def val_dataloader(self):
        return DataLoader(TensorDataset(x_test, y_test), batch_size=500)

    def training_step(self, batch, number):
        return self.criterion(self.model(batch[0]), batch[1])

    def validation_step(self, batch, number):
        return {"logits": self.model(batch[0]), "labels": batch[1]}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9, nesterov=True)


if __name__ == "__main__":
    L.seed_everything(0)
    module = Digits()
    trainer = L.Trainer(max_epochs=4, gradient_clip_val=1.0, logger=False, accelerator="cpu",
        callbacks=[CalibrationCallback(has_diagram=False, replicates=200)],
        enable_checkpointing=False, enable_progress_bar=False)  # fmt: skip
    trainer.fit(module)
    with torch.no_grad():
        report = oko.evaluate(module.model.eval()(x_test), y_test)
    logged = trainer.callback_metrics["val_ece"].item()
    print(f"last ECE of the callback: {logged:.4f}")
    print(f"accuracy {report['accuracy'].value:.3f}, ECE {report['ece'].value:.3f}")
    print(report.verdict)
