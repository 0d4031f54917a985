#!/usr/bin/env python3
"""Tokens per second of linkwright's encoder beside onnxruntime, on the same texts in one run.

    cargo build --release -p linkwright-embed --example embed_speed
    python3 -m venv VENV && VENV/bin/pip install onnxruntime numpy tokenizers
    VENV/bin/python scripts/bench_embed.py ONNX TEXTS.jsonl [--program FILE] [--rounds N] [--threads N]

ONNX is a folder with model.onnx (int8), model_fp32.onnx and tokenizer.json of all-MiniLM-L6-v2, with
inputs input_ids and attention_mask and output last_hidden_state. TEXTS.jsonl has one JSON object
with a "text" per line, such as the main texts of a site's pages.

Two sets of texts: (a) passages of exactly 256 tokens, (b) the site's lines as they are, cut at 256.
The programs take turns, and each figure is the median over the rounds of the ratio within a round,
so that what else the machine does meanwhile falls on both. onnxruntime gets its inputs tokenised,
sorted by length and padded to the longest of each batch of 8, the size at which it is fastest;
linkwright starts from the strings. Tokens are counted without padding.
"""
import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

LIMIT = 256


class Onnx:
    """One model in onnxruntime over inputs that are ready to run."""

    def __init__(self, path: Path, threads: int, ids: list[list[int]], batch: int):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.order = sorted(range(len(ids)), key=lambda index: len(ids[index]))
        self.batches = []
        for start in range(0, len(ids), batch):
            rows = [ids[index] for index in self.order[start:start + batch]]
            width = max(map(len, rows))
            tokens, mask = np.zeros((2, len(rows), width), np.int64)
            for at, row in enumerate(rows):
                tokens[at, :len(row)], mask[at, :len(row)] = row, 1
            self.batches.append((tokens, mask))

    def vectors(self) -> np.ndarray:
        rows = []
        for tokens, mask in self.batches:
            state, = self.session.run(None, {"input_ids": tokens, "attention_mask": mask})
            mean = (state * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
            rows.append(mean / np.linalg.norm(mean, axis=1, keepdims=True))
        out = np.empty((len(self.order), rows[0].shape[1]), np.float32)
        out[self.order] = np.concatenate(rows)
        return out

    def seconds(self) -> float:
        start = time.perf_counter()
        self.vectors()
        return time.perf_counter() - start


class Linkwright:
    """The Rust program, waiting for a line before it embeds everything once more."""

    def __init__(self, program: Path, texts: list[str], threads: int, folder: Path):
        (folder / "texts.json").write_text(json.dumps(texts))
        command = [program, folder / "texts.json", str(threads), folder / "vectors.f32"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.load_seconds = float(self.process.stdout.readline())
        self.seconds()
        self.matrix = np.fromfile(folder / "vectors.f32", "<f4").reshape(len(texts), -1)

    def seconds(self) -> float:
        self.process.stdin.write("\n")
        return float(self.process.stdout.readline())


def exact_passages(tokenizer: Tokenizer, lines: list[str], count: int) -> list[str]:
    """Texts whose tokenisation has exactly LIMIT tokens, marks included."""
    passages = []
    for line in lines:
        encoding = tokenizer.encode(line, add_special_tokens=False)
        for end in range(LIMIT - 2, len(encoding.ids) + 1, LIMIT - 2):
            start = encoding.offsets[end - (LIMIT - 2)][0]
            text = line[start:encoding.offsets[end - 1][1]]
            if len(tokenizer.encode(text).ids) == LIMIT:
                passages.append(text)
            if len(passages) == count:
                return passages
    raise SystemExit(f"the texts have only {len(passages)} passages of {LIMIT} tokens")


def mixed_lines(tokenizer: Tokenizer, texts: list[str], count: int) -> list[str]:
    """Every k-th line of the texts, each at most LIMIT tokens."""
    lines = [line for text in texts for line in text.split("\n") if line.strip()]
    lines = lines[::max(1, len(lines) // count)][:count]
    return [line for line in lines if len(tokenizer.encode(line).ids) <= LIMIT]


def compare(name: str, texts: list[str], tokenizer: Tokenizer, options) -> None:
    ids = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    tokens = sum(map(len, ids))
    with tempfile.TemporaryDirectory() as folder:
        ours = Linkwright(options.program, texts, options.threads, Path(folder))
        int8 = Onnx(options.onnx / "model.onnx", options.threads, ids, options.batch)
        fp32 = Onnx(options.onnx / "model_fp32.onnx", options.threads, ids, options.batch)
        reference = fp32.vectors()
        int8_cosines = (int8.vectors() * reference).sum(1)
        rounds = [(ours.seconds(), int8.seconds(), fp32.seconds(), ours.seconds()) for _ in range(options.rounds)]
        ours.process.stdin.close()
        ours.process.wait()
    cosines = (ours.matrix * reference).sum(1)
    rate = {key: tokens / statistics.median(row[at] for row in rounds)
            for at, key in enumerate(("linkwright", "int8", "fp32"))}

    def ratio(at: int) -> float:
        return statistics.median(2 * row[at] / (row[0] + row[3]) for row in rounds)

    print(f"{name}: {len(texts)} texts, {tokens} tokens, {options.threads} threads, {options.rounds} rounds")
    print("  tokens/s     " + "  ".join(f"{key} {value:,.0f}" for key, value in rate.items()))
    print(f"  ratio        {ratio(1):.2f} x onnxruntime int8, {ratio(2):.2f} x onnxruntime fp32")
    print(f"  cosine       to fp32: mean {cosines.mean():.4f}, least {cosines.min():.4f}"
          f" (onnxruntime int8: {int8_cosines.mean():.4f}, {int8_cosines.min():.4f})")
    print(f"  load         {ours.load_seconds * 1000:.0f} ms")


def main() -> None:
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("onnx", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--program", type=Path, default=root / "target/release/examples/embed_speed")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8, help="texts per onnxruntime call")
    parser.add_argument("--passages", type=int, default=512, help="0: without them")
    parser.add_argument("--lines", type=int, default=3000, help="0: without them")
    options = parser.parse_args()

    tokenizer = Tokenizer.from_file(str(options.onnx / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    with options.texts.open() as file:
        texts = [json.loads(line)["text"] for line in file]
    whole = [text.replace("\n", " ") for text in texts]
    if options.passages:
        compare("passages of 256 tokens", exact_passages(tokenizer, whole, options.passages), tokenizer, options)
    if options.lines:
        compare("lines of a site", mixed_lines(tokenizer, texts, options.lines), tokenizer, options)


if __name__ == "__main__":
    main()
