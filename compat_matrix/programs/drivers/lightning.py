"""A module trained by a Trainer: logging, a scheduler, clipping, validation, a checkpoint written and loaded."""

import logging
import tempfile
import warnings

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

warnings.simplefilter("ignore")
import lightning as L  # noqa: E402

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Model(L.LightningModule):
    def __init__(self, width=8):
        super().__init__()
        self.save_hyperparameters()
        self.net, self.losses = torch.nn.Sequential(torch.nn.Linear(3, width), torch.nn.ReLU(), torch.nn.Linear(width, 1)), []

    def training_step(self, batch, index):
        x, y = batch
        loss = F.mse_loss(self.net(x), y)
        self.log("train_loss", loss)
        self.losses.append(loss.item())
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        self.log("val_loss", F.mse_loss(self.net(x), y))

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), 1e-2)
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 1)}


def program():
    torch.set_default_dtype(torch.float64)
    L.seed_everything(0, verbose=False)
    x = torch.randn(12, 3)
    data, model = TensorDataset(x, x.sum(1, keepdim=True)), Model()
    with tempfile.TemporaryDirectory() as folder:
        trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder,
                            gradient_clip_val=0.5)
        trainer.fit(model, DataLoader(data, 4, shuffle=True), DataLoader(data, 4))
        yield "losses", model.losses
        yield "validation", trainer.validate(model, DataLoader(data, 4), verbose=False)
        again = Model.load_from_checkpoint(trainer.checkpoint_callback.best_model_path)
        yield "checkpoint", dict(again.hparams), list(again.parameters())
        yield "prediction", trainer.callback_metrics["val_loss"], trainer.global_step
