"""Programs of the GPU suite: name -> (module, inputs, dtype, dynamic shapes or None)."""
import torch
from torch import nn


class Elementwise(nn.Module):
    def forward(self, x, y):
        return torch.sigmoid(x) * y + torch.where(x > 0, x.exp(), y.abs().sqrt())


class Matmul(nn.Module):
    def forward(self, a, b):
        return a @ b


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(256)
        self.up = nn.Linear(256, 1024)
        self.down = nn.Linear(1024, 256)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class Softmax(nn.Module):
    def forward(self, x):
        return x.softmax(-1), x.sum(1), x.amax((0, 2))


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 32, 3, 2, 1)
        self.depthwise = nn.Conv2d(32, 32, 3, 1, 1, groups=32)
        self.last = nn.Conv2d(32, 64, 1)

    def forward(self, x):
        x = self.first(x).relu()
        return self.last(x + self.depthwise(x)).relu()


def resnet18():
    """Batch-norm statistics from a pass in training mode, so that the output depends on the input."""
    import torchvision

    model = torchvision.models.resnet18(weights=None)
    model.train()
    with torch.no_grad():
        model(torch.randn(8, 3, 96, 96))
    return model.eval()


def cases():
    batch = torch.export.Dim("n", min=1, max=64)
    f32, f16, bf16 = torch.float32, torch.float16, torch.bfloat16
    image = (torch.randn(1, 3, 224, 224),)
    pair = (torch.randn(33, 77), torch.randn(33, 77))
    yield "elementwise_f32", Elementwise(), pair, f32, None
    yield "elementwise_f16", Elementwise(), pair, f16, None
    yield "elementwise_dynamic", Elementwise(), pair, f32, ({0: batch}, {0: batch})
    yield "matmul_f32", Matmul(), (torch.randn(197, 768), torch.randn(768, 512)), f32, None
    yield "matmul_f16", Matmul(), (torch.randn(4, 65, 128), torch.randn(4, 128, 96)), f16, None
    yield "softmax_bf16", Softmax(), (torch.randn(5, 40, 130),), bf16, None
    yield "block_f32", Block(), (torch.randn(2, 50, 256),), f32, None
    yield "block_f16", Block(), (torch.randn(2, 50, 256),), f16, None
    yield "convolutions_f32", Convolutions(), (torch.randn(2, 3, 65, 63),), f32, None
    yield "convolutions_f16", Convolutions(), (torch.randn(2, 3, 65, 63),), f16, None
    yield "resnet18_f32", resnet18(), image, f32, None
    yield "resnet18_f16", resnet18(), image, f16, None
