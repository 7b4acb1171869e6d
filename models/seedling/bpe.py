#!/usr/bin/env python3
"""Byte-level BPE as GPT-2 has it: learns a vocabulary and turns examples into tokens. Standard library only.

    bpe.py FOLDER      reads FOLDER/train.jsonl and valid.jsonl, writes vocab.json, train.tokens.xz, valid.tokens.xz

A .tokens file is 16-bit little-endian numbers: per example the number of prompt tokens, the number of plan tokens (the end
token included), then the tokens themselves.

The examples come in the ways in which a prompt can reach the model: through its chat template, with and without a system
message, and as plain text.
"""
import array
import collections
import json
import lzma
import os
import random
import re
import sys

VOCABULARY = 1024
SPECIAL = ["<|end|>", "<|user|>", "<|assistant|>", "<|system|>"]
LEARN_FROM = 12000  # examples; more change nothing
SYSTEM_MESSAGES = ["You plan for a robot.", "You are a planner. Answer with a plan and nothing else.",
                   "Write a plan that reaches the goal."]

# The pre-tokenizer that GGUF files call "gpt-2". Equal to it on ASCII text, which is all there is here: there "letter" and
# "digit" mean the same to both.
PIECES = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def byte_characters():
    """How GPT-2 writes bytes: printable ones as themselves, the others as characters from 256 on."""
    printable = list(range(ord("!"), ord("~") + 1)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    table, extra = {}, 0
    for byte in range(256):
        if byte in printable:
            table[byte] = chr(byte)
        else:
            table[byte] = chr(256 + extra)
            extra += 1
    return table


BYTES = byte_characters()


def spell(piece):
    return tuple(BYTES[byte] for byte in piece.encode())


def join(symbols, pair):
    out, i = [], 0
    while i < len(symbols):
        if i + 1 < len(symbols) and symbols[i] == pair[0] and symbols[i + 1] == pair[1]:
            out.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return tuple(out)


def learn(texts, num_merges):
    """Merges the most frequent pair of neighbours, again and again; ties go to the pair that sorts first."""
    counts = collections.Counter(piece for text in texts for piece in PIECES.findall(text))
    spelled = {piece: spell(piece) for piece in counts}
    pairs, where = collections.Counter(), collections.defaultdict(set)
    for piece, symbols in spelled.items():
        for pair in zip(symbols, symbols[1:]):
            pairs[pair] += counts[piece]
            where[pair].add(piece)
    merges = []
    while len(merges) < num_merges:
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        merges.append(best)
        for piece in sorted(where.pop(best)):
            for pair in zip(spelled[piece], spelled[piece][1:]):
                pairs[pair] -= counts[piece]
            spelled[piece] = join(spelled[piece], best)
            for pair in zip(spelled[piece], spelled[piece][1:]):
                pairs[pair] += counts[piece]
                where[pair].add(piece)
        del pairs[best]
    return merges


class Tokenizer:
    """tokens: bytes first, then one per merge, then the special ones."""

    def __init__(self, merges):
        self.merges = [tuple(merge) for merge in merges]
        self.tokens = [BYTES[byte] for byte in range(256)] + ["".join(merge) for merge in self.merges] + SPECIAL
        self.ids = {token: i for i, token in enumerate(self.tokens)}
        self.ranks = {merge: rank for rank, merge in enumerate(self.merges)}
        self.cache = {}
        assert len(self.ids) == len(self.tokens)

    def piece(self, piece):
        if piece not in self.cache:
            symbols = spell(piece)
            while len(symbols) > 1:
                best = min(zip(symbols, symbols[1:]), key=lambda pair: self.ranks.get(pair, len(self.ranks)))
                if best not in self.ranks:
                    break
                symbols = join(symbols, best)
            self.cache[piece] = [self.ids[symbol] for symbol in symbols]
        return self.cache[piece]

    def encode(self, text):
        return [token for piece in PIECES.findall(text) for token in self.piece(piece)]

    def special(self, name):
        return self.ids[name]


def chat(tokenizer, role, content):
    """The chat template: '<|role|>\\n' content '<|end|>\\n'."""
    begin, end = tokenizer.special(f"<|{role}|>"), tokenizer.special("<|end|>")
    return [begin] + tokenizer.encode("\n" + content) + [end] + tokenizer.encode("\n")


def example_tokens(tokenizer, prompt, plan, rng):
    tokens = []
    if rng.random() < 0.25:
        tokens = tokenizer.encode(prompt)
    else:
        if rng.random() < 0.1:
            tokens += chat(tokenizer, "system", rng.choice(SYSTEM_MESSAGES))
        tokens += chat(tokenizer, "user", prompt) + [tokenizer.special("<|assistant|>")] + tokenizer.encode("\n")
    return tokens, tokenizer.encode(plan) + [tokenizer.special("<|end|>")]


def main():
    folder = sys.argv[1]
    lines = {name: open(os.path.join(folder, name + ".jsonl")).read().splitlines() for name in ("train", "valid")}
    some = [json.loads(line) for line in lines["train"][:LEARN_FROM]]
    merges = learn((e["prompt"] + e["plan"] for e in some), VOCABULARY - 256 - len(SPECIAL))
    tokenizer = Tokenizer(merges)
    with open(os.path.join(folder, "vocab.json"), "w") as out:
        json.dump({"merges": merges}, out, ensure_ascii=False)
    for name, examples in lines.items():
        rng, data, longest = random.Random(name), array.array("H"), 0
        for line in examples:
            example = json.loads(line)
            prompt, plan = example_tokens(tokenizer, example["prompt"], example["plan"], rng)
            data.extend([len(prompt), len(plan)])
            data.extend(prompt)
            data.extend(plan)
            longest = max(longest, len(prompt) + len(plan))
        if sys.byteorder == "big":
            data.byteswap()
        with lzma.open(os.path.join(folder, name + ".tokens.xz"), "wb", preset=1) as out:
            out.write(data.tobytes())
        print(f"{name}: {len(examples)} examples, {len(data)} tokens, the longest has {longest}")


if __name__ == "__main__":
    main()
