#!/usr/bin/env python3
"""Writes a trained model as a GGUF file.

    export_gguf.py model.pt vocab.json pocket.gguf

Paragraphs that are tokens (bpe.py) are "user defined" tokens: llama.cpp finds them in any text. Matrices are stored as Q8_0 (blocks of
32 numbers: one 16-bit scale, 32 signed bytes), vectors as 32-bit floats. vocab.json must be the vocabulary that the model was trained with.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import support  # noqa: E402

support.need("numpy", "torch")

import numpy as np  # noqa: E402

from bpe import SPECIAL, Tokenizer  # noqa: E402

ALIGNMENT = 32
F32, Q8_0 = 0, 8  # tensor types
UINT32, FLOAT32, BOOL, STRING, ARRAY, INT32 = 4, 6, 7, 8, 9, 5  # metadata types
NORMAL, CONTROL, USER_DEFINED, UNUSED = 1, 3, 4, 5  # token types
# llama.cpp recognises a template by the tokens in it.
CHAT_TEMPLATE = ("{% for message in messages %}{{ '<|' + message['role'] + '|>\n' + message['content'] + '<|end|>\n' }}"
                 "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}")


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value_of(kind, value):
    if kind == STRING:
        return text(value)
    if kind == BOOL:
        return struct.pack("<?", value)
    return struct.pack({UINT32: "<I", INT32: "<i", FLOAT32: "<f"}[kind], value)


def entry(key, kind, value):
    if isinstance(value, list):
        body = struct.pack("<IQ", kind, len(value)) + b"".join(value_of(kind, v) for v in value)
        return text(key) + struct.pack("<I", ARRAY) + body
    return text(key) + struct.pack("<I", kind) + value_of(kind, value)


def q8_0(matrix):
    blocks = matrix.reshape(-1, 32)
    scale = np.abs(blocks).max(1) / np.float32(127)
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    out = np.zeros(len(blocks), dtype=[("scale", "<f2"), ("values", "i1", 32)])
    out["scale"] = scale.astype(np.float16)
    out["values"] = np.rint(blocks * inverse[:, None]).astype(np.int8)
    return out.tobytes()


def metadata(config, tokenizer):
    end = tokenizer.special("<|end|>")
    phrases = set(tokenizer.phrases)
    kinds = [CONTROL if token in SPECIAL else USER_DEFINED if token in phrases else UNUSED if token.startswith("<|unused") else NORMAL
             for token in tokenizer.tokens]
    return [
        ("general.architecture", STRING, "llama"),
        ("general.name", STRING, "pocket"),
        ("general.description", STRING, "a small model that writes plans, for metactrl"),
        ("general.license", STRING, "mit"),
        ("general.alignment", UINT32, ALIGNMENT),
        ("general.file_type", UINT32, 7),
        ("general.quantization_version", UINT32, 2),
        ("llama.vocab_size", UINT32, config["vocabulary"]),
        ("llama.context_length", UINT32, config["context"]),
        ("llama.embedding_length", UINT32, config["width"]),
        ("llama.block_count", UINT32, config["layers"]),
        ("llama.feed_forward_length", UINT32, config["hidden"]),
        ("llama.attention.head_count", UINT32, config["heads"]),
        ("llama.attention.head_count_kv", UINT32, config["key_heads"]),
        ("llama.attention.layer_norm_rms_epsilon", FLOAT32, config["eps"]),
        ("llama.rope.dimension_count", UINT32, config["width"] // config["heads"]),
        ("llama.rope.freq_base", FLOAT32, config["rope_base"]),
        ("tokenizer.ggml.model", STRING, "gpt2"),
        ("tokenizer.ggml.pre", STRING, "gpt-2"),
        ("tokenizer.ggml.tokens", STRING, tokenizer.tokens),
        ("tokenizer.ggml.token_type", INT32, kinds),
        ("tokenizer.ggml.merges", STRING, [" ".join(merge) for merge in tokenizer.merges]),
        ("tokenizer.ggml.bos_token_id", UINT32, end),
        ("tokenizer.ggml.eos_token_id", UINT32, end),
        ("tokenizer.ggml.eot_token_id", UINT32, end),
        ("tokenizer.ggml.padding_token_id", UINT32, end),
        ("tokenizer.ggml.add_bos_token", BOOL, False),
        ("tokenizer.ggml.add_eos_token", BOOL, False),
        ("tokenizer.chat_template", STRING, CHAT_TEMPLATE),
    ]


def main():
    if len(sys.argv) != 4:
        raise SystemExit("usage: export_gguf.py model.pt vocab.json pocket.gguf")
    checkpoint, vocabulary, file = sys.argv[1:]
    tokenizer = Tokenizer.load(vocabulary)
    saved = support.load_weights(checkpoint, "cpu", tokenizer.digest(), vocabulary)
    config = saved["config"]
    tensors = []
    for name, tensor in saved["state"].items():
        values = tensor.float().numpy()
        kind, data = (Q8_0, q8_0(values)) if values.ndim == 2 else (F32, values.astype("<f4").tobytes())
        tensors.append((name, values.shape[::-1], kind, data))

    entries = metadata(config, tokenizer)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries)) + b"".join(entry(*e) for e in entries)
    offset = 0
    for name, shape, kind, data in tensors:
        head += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<IQ", kind, offset)
        offset += -(-len(data) // ALIGNMENT) * ALIGNMENT
    with support.replacing(file) as (name,), open(name, "wb") as out:
        out.write(head + b"\0" * (-len(head) % ALIGNMENT))
        for _, _, _, data in tensors:
            out.write(data + b"\0" * (-len(data) % ALIGNMENT))
        size = out.tell()
    print(f"{file}: {size} bytes, {len(tensors)} tensors")


if __name__ == "__main__":
    main()
