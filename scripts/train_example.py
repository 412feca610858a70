"""Trains the checkpoint that the README and the examples read: train_example.py OUT.

A small convolutional network learns the 1,797 hand-written digits (8 x 8 pixels) that ship inside
scikit-learn. Needs PyTorch and scikit-learn; takes a few seconds on one core. The seed is fixed and
one thread is used, so that a second run on the same PyTorch gives the same weights.
"""
import sys

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

CONFIG = {"seed": 7, "epochs": 30, "batch_size": 64, "lr": 3e-3, "weight_decay": 0.01,
          "ema_decay": 0.98, "classes": [str(digit) for digit in range(10)]}


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(32)
        self.hidden = nn.Linear(32 * 4 * 4, 48)
        self.output = nn.Linear(48, 10)

    def forward(self, x):
        x = F.relu(self.norm1(self.conv1(x)))
        x = F.max_pool2d(F.relu(self.norm2(self.conv2(x))), 2)
        return self.output(F.relu(self.hidden(x.flatten(1))))


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def split():
    """Images and labels for training, and the same for testing."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target)
    order = torch.randperm(len(labels))
    train, test = order[:1437], order[1437:]
    return images[train], labels[train], images[test], labels[test]


def main():
    torch.manual_seed(CONFIG["seed"])
    torch.set_num_threads(1)
    images, labels, test_images, test_labels = split()
    model = Digits()
    ema = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(CONFIG["ema_decay"]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=CONFIG["lr"],
                                  weight_decay=CONFIG["weight_decay"])
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, CONFIG["epochs"])
    history = []
    for epoch in range(CONFIG["epochs"]):
        model.train()
        total = 0.0
        for batch in torch.randperm(len(labels)).split(CONFIG["batch_size"]):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            ema.update_parameters(model)
            total += loss.item() * len(batch)
        scheduler.step()
        history.append({"epoch": epoch + 1, "loss": total / len(labels),
                        "test_accuracy": accuracy(model, test_images, test_labels)})
    print(f"loss {history[-1]['loss']:.4f}, test accuracy {history[-1]['test_accuracy']:.2%}")
    torch.save({
        "model": model.state_dict(),
        "ema": {name: tensor.bfloat16() for name, tensor in ema.module.state_dict().items()
                if tensor.is_floating_point()},
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "epoch": CONFIG["epochs"],
        "config": CONFIG,
        "history": history,
    }, sys.argv[1])


if __name__ == "__main__":
    main()
