"""Makes tests/data/tensors: small files of tensors and images, each by the package that owns the format.

    python tests/data/make/tensors.py tests/data/tensors

Needs numpy, ml_dtypes, torch, safetensors and pillow. Files named bad_* must be refused; every other
file has its content, as read by its own package, in a .safetensors or .npy file beside it or in the
test's table.
"""

import struct
import sys
import zlib
from pathlib import Path

import ml_dtypes
import numpy as np
import torch
from PIL import Image
from safetensors.torch import save_file

OUT = Path(sys.argv[1])

# Three times two elements of each type: extremes, zeros of both signs, what is not finite.
NAN, INF = float("nan"), float("inf")
VALUES = {
    "bool": [True, False, True, True, False, False],
    "uint8": [0, 1, 2, 127, 128, 255],
    "uint16": [0, 1, 2, 32767, 32768, 65535],
    "uint32": [0, 1, 2, 2**31 - 1, 2**31, 2**32 - 1],
    "uint64": [0, 1, 2, 2**63 - 1, 2**63, 2**64 - 1],
    "int8": [0, 1, -1, 126, 127, -128],
    "int16": [0, 1, -1, 126, 32767, -32768],
    "int32": [0, 1, -1, 126, 2**31 - 1, -(2**31)],
    "int64": [0, 1, -1, 126, 2**63 - 1, -(2**63)],
    "float16": [0.0, -0.0, 1.5, -65504.0, INF, NAN],
    "bfloat16": [0.0, -0.0, 1.5, -3.3895313892515355e38, INF, NAN],
    "float32": [0.0, -0.0, 1.5, -3.4028234663852886e38, INF, NAN],
    "float64": [0.0, -0.0, 1.5, -1.7976931348623157e308, INF, NAN],
    "complex64": [0, 1j, -1j, 1.5 - 2.5j, complex(INF, -1), complex(0, NAN)],
    "complex128": [0, 1j, -1j, 1.5 - 2.5j, complex(INF, -1), complex(0, NAN)],
}


def array(name):
    dtype = ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)
    return np.array(VALUES[name], dtype).reshape(3, 2)


def tensor(name):
    if name == "bfloat16":
        return torch.tensor(VALUES[name], dtype=torch.bfloat16).reshape(3, 2)
    return torch.from_numpy(array(name).copy())


def make_arrays():
    for name in VALUES:
        np.save(OUT / f"{name}.npy", array(name))
    save_file({name: tensor(name) for name in VALUES if name != "complex128"},
              OUT / "types.safetensors", {"made_by": "safetensors \"torch\"\n", "empty": ""})
    # All bit patterns of the small floats, and what torch says they are.
    small = {}
    for name in ("float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"):
        small[name] = torch.arange(256, dtype=torch.uint8).view(getattr(torch, name))
        small[name + " as float64"] = small[name].double()
    save_file(small, OUT / "small_floats.safetensors")

    np.save(OUT / "fortran.npy", np.asfortranarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4)))
    np.save(OUT / "scalar.npy", np.array(2.5, np.float32))
    np.save(OUT / "empty.npy", np.zeros((0, 3), np.float64))
    np.save(OUT / "big_int32.npy", array("int32").astype(">i4"))
    np.save(OUT / "big_complex128.npy", array("complex128").astype(">c16"))
    for version in ((2, 0), (3, 0)):
        with open(OUT / f"version{version[0]}.npy", "wb") as file:
            np.lib.format.write_array(file, array("int16"), version)
    np.savez(OUT / "stored.npz", a=array("int16"), b=np.array(2.5, np.float32))
    np.savez_compressed(OUT / "deflated.npz", a=array("int16"), zeros=np.zeros(3000))

    np.save(OUT / "bad_records.npy", np.zeros(2, [("x", "<f4"), ("y", "<i4")]))
    np.save(OUT / "bad_object.npy", np.array([None, "x"], object), allow_pickle=True)
    np.save(OUT / "bad_text.npy", np.array(["x", "yz"]))
    np.save(OUT / "bad_date.npy", np.array(["2020-01-01"], "datetime64[D]"))
    np.save(OUT / "bad_longdouble.npy", np.zeros(2, np.longdouble))
    np.save(OUT / "bad_float8.npy", np.zeros(2, ml_dtypes.float8_e4m3fn))


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path, image, color, extra=b"", interlaced=False):
    """`image` [h, w, c] of uint8 or big-endian uint16, as Pillow cannot write what is wanted here."""
    h, w, _ = image.shape
    passes = [(0, 0, 1, 1)]
    if interlaced:
        passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    rows = b""
    for x, y, dx, dy in passes:
        part = image[y::dy, x::dx]
        if part.size:
            rows += b"".join(b"\0" + row.tobytes() for row in part)
    header = struct.pack(">IIBBBBB", w, h, 8 * image.itemsize, color, 0, 0, interlaced)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + extra +
                     png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b""))


def make_images():
    rng = np.random.default_rng(7)
    h, w = 9, 13
    y, x = np.mgrid[:h, :w]
    rgb = np.stack([20 * x, 25 * y, 10 * (x + y)], -1).astype(np.uint8)
    rgb ^= rng.integers(0, 32, rgb.shape, dtype=np.uint8)
    gray16 = rng.integers(0, 65536, (h, w, 1)).astype(">u2")
    rgb16 = rng.integers(0, 65536, (h, w, 3)).astype(">u2")
    alpha = rng.integers(0, 256, (h, w), dtype=np.uint8)

    picture = Image.fromarray(rgb)
    gray = picture.convert("L")
    palette = picture.quantize(16)
    bits = gray.point(lambda v: 255 if v > 90 else 0).convert("1")
    picture.save(OUT / "rgb.png")
    gray.save(OUT / "gray.png")
    Image.fromarray(np.dstack([rgb, alpha])).save(OUT / "rgba.png")
    palette.save(OUT / "palette.png", transparency=3)
    bits.save(OUT / "bits.png")
    write_png(OUT / "gray16.png", gray16, 0)
    write_png(OUT / "rgb16.png", rgb16, 2)
    write_png(OUT / "interlaced.png", rgb, 2, interlaced=True)
    write_png(OUT / "gamma.png", rgb, 2, extra=png_chunk(b"gAMA", struct.pack(">I", 100000)))
    picture.save(OUT / "rgb.jpg", quality=90)
    picture.save(OUT / "progressive.jpg", quality=90, progressive=True)
    gray.save(OUT / "gray.jpg", quality=90)
    picture.convert("CMYK").save(OUT / "bad_cmyk.jpg")
    # A header that promises a million times a million pixels.
    header = struct.pack(">IIBBBBB", 1000000, 1000000, 16, 6, 0, 0, 0)
    (OUT / "bad_huge.png").write_bytes(b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) +
                                       png_chunk(b"IDAT", zlib.compress(bytes(100))) + png_chunk(b"IEND", b""))

    def planes(image, largest):
        image = np.asarray(image)
        image = image[..., None] if image.ndim == 2 else image
        return np.ascontiguousarray(image[..., :3].astype(np.float32).transpose(2, 0, 1)[None]) / np.float32(largest)

    def opened(name, mode=None):
        image = Image.open(OUT / name)
        return image.convert(mode) if mode else image

    truth = {
        "rgb.png": planes(rgb, 255), "rgba.png": planes(rgb, 255), "interlaced.png": planes(rgb, 255),
        "gamma.png": planes(rgb, 255), "gray.png": planes(gray, 255),
        "palette.png": planes(palette.convert("RGB"), 255), "bits.png": planes(bits.convert("L"), 255),
        "gray16.png": planes(gray16, 65535), "rgb16.png": planes(rgb16, 65535),
        "rgb.jpg": planes(opened("rgb.jpg"), 255), "progressive.jpg": planes(opened("progressive.jpg"), 255),
        "gray.jpg": planes(opened("gray.jpg"), 255),
    }
    truth = {name: torch.from_numpy(image) for name, image in truth.items()}
    for oh, ow in ((5, 7), (20, 31), (9, 4), (1, 1), (9, 13)):
        truth[f"rgb.png {oh}x{ow}"] = torch.nn.functional.interpolate(
            truth["rgb.png"], (oh, ow), mode="bilinear", antialias=True)
    save_file(truth, OUT / "images.safetensors")


def make_digits():
    """Eight test images of examples/digits and what PyTorch makes of them."""
    digits = Path(__file__).parents[3] / "examples" / "digits"
    images = torch.from_numpy(np.load(digits / "test.npz")["images"][:8])
    probabilities = torch.export.load(digits / "digits.pt2").module()(images).detach()
    save_file({"in.0": images, "out.0": probabilities}, OUT / "digits.safetensors")
    probabilities[3, 5] += 0.01
    save_file({"in.0": images, "out.0": probabilities}, OUT / "digits_wrong.safetensors")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    make_arrays()
    make_images()
    make_digits()
