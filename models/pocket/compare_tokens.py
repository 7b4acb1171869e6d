#!/usr/bin/env python3
"""Compares llama.cpp's encoding with the one the model was trained on.

    compare_tokens.py PROGRAM MODEL.gguf FOLDER [COUNT]

PROGRAM is tokens.cc, compiled; FOLDER holds vocab.json, train.jsonl and valid.jsonl. Prints the first differences; ends with 1 if
there is one.
"""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import bpe  # noqa: E402
import generate  # noqa: E402
import templates  # noqa: E402


def main():
    if len(sys.argv) not in (4, 5):
        raise SystemExit("usage: compare_tokens.py PROGRAM MODEL.gguf FOLDER [COUNT]")
    program, model, folder = sys.argv[1:4]
    count = int(sys.argv[4]) if len(sys.argv) == 5 else 5000
    tokenizer = bpe.Tokenizer.load(os.path.join(folder, "vocab.json"))
    lines = []
    for name in ("train", "valid"):
        with open(os.path.join(folder, name + ".jsonl")) as file:
            lines += file.read().splitlines()
    examples = [json.loads(line) for line in random.Random(1).sample(lines, min(count, len(lines)))]
    asked = "".join(json.dumps({"system": templates.load(e["system"]) if e["system"] else "", "user": generate.unfolded(e["prompt"]),
                                "plan": e["plan"]}) + "\n" for e in examples)
    result = subprocess.run([program, model], input=asked, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(result.stderr)
    different = texts = 0
    bpe.PLAIN = 0  # llama.cpp was given the chat template
    for example, line in zip(examples, result.stdout.splitlines(), strict=True):
        theirs = json.loads(line)
        prompt, plan = tokenizer.example(example, random.Random(1))
        for kind, ours, other in (("prompt", prompt, theirs["prompt"]), ("plan", plan[:-1], theirs["plan"])):
            texts += 1
            if ours != other:
                different += 1
                if different <= 5:
                    at = next((i for i, (a, b) in enumerate(zip(ours, other)) if a != b), min(len(ours), len(other)))
                    print(f"{example['module']}, {kind}, token {at}: {[tokenizer.tokens[t] for t in ours[at : at + 4]]} was learned, "
                          f"{[tokenizer.tokens[t] for t in other[at : at + 4]]} is llama.cpp's")
    print(f"{texts} texts, {different} encoded differently")
    raise SystemExit(1 if different else 0)


if __name__ == "__main__":
    main()
