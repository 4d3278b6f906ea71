"""Trains the digits network and exports it.

    python train.py            (torch 2.14.1, scikit-learn 1.8, numpy)

Writes into the folder above: digits.pt2 (the network, any batch up to 512), test.npz (the 360 images
that it did not see, `images` f32 in 0…1 and `labels`), and seven.png, one of those. Prints the
accuracy on them, which the README states and a test asserts.
"""
import os
import re
import struct
import zlib

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
            nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(48, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2))
        self.classify = nn.Sequential(nn.Flatten(), nn.Dropout(0.3), nn.Linear(256, 10))

    def forward(self, image):
        return torch.softmax(self.classify(self.features(image)), dim=1)


def write_png(path, image):
    """An 8-bit grey PNG, by the format's own rules: no library needed."""
    rows = b"".join(b"\0" + bytes(row) for row in image)
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 0, 0, 0, 0)
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def without_folders(program):
    """Stack traces name files alone, not where they lay on the machine that exported."""
    for node in program.graph.nodes:
        if trace := node.meta.get("stack_trace"):
            node.meta["stack_trace"] = re.sub(r'File "[^"]*/([^"/]+)"', r'File "\1"', trace)
    return program


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = load_digits()
    # PNGs hold 8 bits: train and test on what survives them.
    images = np.round(data.images / 16 * 255).astype(np.uint8)
    x_train, x_test, y_train, y_test = train_test_split(images, data.target, test_size=360, random_state=0, stratify=data.target)
    x = torch.from_numpy(x_train).float().div(255).unsqueeze(1)
    y = torch.from_numpy(y_train)
    model = Digits()
    optimizer = torch.optim.AdamW(model.parameters(), 2e-3, weight_decay=1e-2)
    epochs, batch = 60, 64
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, epochs * -(-len(x) // batch))
    for _ in range(epochs):
        model.train()
        for index in torch.randperm(len(x)).split(batch):
            shift = tuple(torch.randint(-1, 2, (2,)).tolist())
            picked = torch.roll(x[index], shift, (2, 3)) if torch.rand(()) < 0.3 else x[index]
            loss = nn.functional.nll_loss(model(picked).clamp_min(1e-9).log(), y[index])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    model.eval()
    test = torch.from_numpy(x_test).float().div(255).unsqueeze(1)
    with torch.no_grad():
        probabilities = model(test)
    right = probabilities.argmax(1).numpy() == y_test
    print(f"{int(right.sum())} of {len(right)} right: {right.mean():.1%}")
    program = torch.export.export(model, (test[:2],), dynamic_shapes=({0: torch.export.Dim("n", min=1, max=512)},))
    torch.export.save(without_folders(program), os.path.join(HERE, "digits.pt2"))
    np.savez_compressed(os.path.join(HERE, "test.npz"), images=test.numpy(), labels=y_test.astype(np.int64))
    seven = int(np.flatnonzero(right & (y_test == 7))[0])
    write_png(os.path.join(HERE, "seven.png"), x_test[seven])


if __name__ == "__main__":
    main()
