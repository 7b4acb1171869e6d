#!/usr/bin/env python3
"""The way back from export_gguf.py: weights and vocabulary of an exported model, to train it further.

    import_gguf.py pocket.gguf FOLDER

FOLDER gets model.pt (for `train.py --start`) and vocab.json (for `bpe.py --vocabulary`). What the export rounded to 8 bits stays rounded:
exporting model.pt again gives the same file.
"""
import json
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import support  # noqa: E402

support.need("numpy", "torch")

import numpy as np  # noqa: E402
import torch  # noqa: E402

from bpe import Tokenizer  # noqa: E402
from export_gguf import ALIGNMENT, ARRAY, BOOL, F32, FLOAT32, INT32, Q8_0, STRING, UINT32, USER_DEFINED  # noqa: E402

NUMBERS = {UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        value, = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def text(self):
        size = self.number("<Q")
        self.at += size
        return self.data[self.at - size:self.at].decode()

    def value(self, kind):
        if kind == ARRAY:
            kind, count = self.number("<I"), self.number("<Q")
            return [self.value(kind) for _ in range(count)]
        if kind != STRING and kind not in NUMBERS:
            raise SystemExit(f"metadata of type {kind} is none that export_gguf.py writes")
        return self.text() if kind == STRING else self.number(NUMBERS[kind])


def matrix(data, shape):
    blocks = np.frombuffer(data, dtype=[("scale", "<f2"), ("values", "i1", 32)], count=np.prod(shape) // 32)
    return (blocks["values"] * blocks["scale"].astype(np.float32)[:, None]).reshape(shape)


def read(file):
    """(metadata, tensors by name)."""
    try:
        with open(file, "rb") as source:
            reader = Reader(source.read())
    except OSError as error:
        raise SystemExit(f"import_gguf.py: {file}: {error.strerror}")
    if reader.data[:4] != b"GGUF":
        raise SystemExit(f"{file}: is no GGUF file")
    reader.at = 4
    _, tensors, entries = reader.number("<I"), reader.number("<Q"), reader.number("<Q")
    metadata = {}
    for _ in range(entries):
        key = reader.text()
        metadata[key] = reader.value(reader.number("<I"))
    listed = []
    for _ in range(tensors):
        name = reader.text()
        shape = [reader.number("<Q") for _ in range(reader.number("<I"))][::-1]
        listed.append((name, shape, reader.number("<I"), reader.number("<Q")))
    start = -(-reader.at // ALIGNMENT) * ALIGNMENT
    state = {}
    for name, shape, kind, offset in listed:
        data = memoryview(reader.data)[start + offset:]
        if kind not in (F32, Q8_0):
            raise SystemExit(f"{file}: {name} is of type {kind}, which export_gguf.py does not write")
        values = matrix(data, shape) if kind == Q8_0 else np.frombuffer(data, "<f4", count=np.prod(shape)).reshape(shape)
        state[name] = torch.from_numpy(values.copy())
    return metadata, state


def main():
    if len(sys.argv) != 3:
        raise SystemExit("usage: import_gguf.py pocket.gguf FOLDER")
    file, folder = sys.argv[1:]
    metadata, state = read(file)
    of = {"vocabulary": "vocab_size", "context": "context_length", "width": "embedding_length", "layers": "block_count", "hidden": "feed_forward_length",
          "heads": "attention.head_count", "key_heads": "attention.head_count_kv", "eps": "attention.layer_norm_rms_epsilon", "rope_base": "rope.freq_base"}
    config = {name: metadata["llama." + key] for name, key in of.items()}
    config["eps"] = float(np.format_float_positional(np.float32(config["eps"])))
    tokens, kinds = metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"]
    merges = [merge.split(" ") for merge in metadata["tokenizer.ggml.merges"]]
    phrases = [token for token, kind in zip(tokens, kinds) if kind == USER_DEFINED]
    os.makedirs(folder, exist_ok=True)
    with support.replacing(os.path.join(folder, "model.pt"), os.path.join(folder, "vocab.json")) as names:
        torch.save({"config": config, "vocabulary_sha256": Tokenizer(merges, phrases).digest(), "state": state}, names[0])
        with open(names[1], "w") as out:
            json.dump({"merges": merges, "phrases": phrases}, out, ensure_ascii=False)
    print(f"{folder}: {len(state)} tensors, {len(tokens)} tokens")


if __name__ == "__main__":
    main()
