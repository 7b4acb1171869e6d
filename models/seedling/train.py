#!/usr/bin/env python3
"""Trains seedling on one GPU.

    train.py --data FOLDER --out FOLDER [--steps N] [--width 192 --layers 6 --heads 6 --hidden 512] [--save-at 0.5]

Reads train.tokens.xz and valid.tokens.xz (bpe.py), writes model.pt (and model-<step>.pt for each --save-at) and log.txt. A
batch holds examples of about the same length; loss on the plan counts fully, loss on the prompt a tenth: reading is what the
model practises on the prompt, writing is what it is for.
"""
import argparse
import dataclasses
import lzma
import math
import os
import time

import numpy as np
import torch
from torch.nn import functional as F

from model import Block, Config, Model

PROMPT_WEIGHT = 0.1
TOKENS_PER_BATCH = 32768
WARM_UP = 200
SEED = 1


def load(file):
    data = np.frombuffer(lzma.open(file).read(), dtype="<u2")
    examples, at = [], 0
    while at < len(data):
        prompt, plan = int(data[at]), int(data[at + 1])
        examples.append((data[at + 2 : at + 2 + prompt + plan], prompt))
        at += 2 + prompt + plan
    return examples


def batches(examples, rng):
    """One epoch. Examples are sorted by length with some noise, cut into batches, and the batches shuffled."""
    lengths = np.array([len(tokens) for tokens, _ in examples])
    order = np.argsort(lengths + rng.uniform(0, 24, len(lengths)), kind="stable")
    groups, group, longest = [], [], 0
    for i in order:
        longest = max(longest, lengths[i])
        if group and (len(group) + 1) * longest > TOKENS_PER_BATCH:
            groups.append(group)
            group, longest = [], lengths[i]
        group.append(i)
    groups.append(group)
    rng.shuffle(groups)
    return groups


def collate(examples, group):
    longest = -(-max(len(examples[i][0]) for i in group) // 16) * 16
    tokens = np.zeros((len(group), longest + 1), dtype=np.int64)
    weights = np.zeros((len(group), longest), dtype=np.float32)
    for row, i in enumerate(group):
        text, prompt = examples[i]
        tokens[row, : len(text)] = text
        weights[row, : prompt - 1] = PROMPT_WEIGHT
        weights[row, prompt - 1 : len(text) - 1] = 1
    return tuple(torch.from_numpy(a).pin_memory().cuda(non_blocking=True) for a in (tokens, weights))


def losses(model, tokens, weights):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits = model(tokens[:, :-1])
    return F.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten(), reduction="none").view_as(weights), logits


@torch.no_grad()
def evaluate(model, examples):
    """Mean loss per plan token, and the share of plans whose every token is the model's first choice."""
    total = count = exact = 0
    for group in batches(examples, np.random.default_rng(0)):
        tokens, weights = collate(examples, group)
        loss, logits = losses(model, tokens, weights)
        on_plan = weights == 1
        total += loss[on_plan].sum().item()
        count += on_plan.sum().item()
        exact += ((logits.argmax(-1) == tokens[:, 1:]) | ~on_plan).all(1).sum().item()
    return total / count, exact / len(examples)


def rate(step, steps, peak):
    if step < WARM_UP:
        return peak * (step + 1) / WARM_UP
    return peak * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (step - WARM_UP) / max(1, steps - WARM_UP))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--save-at", type=float, nargs="*", default=[])
    for field in ("width", "layers", "heads", "hidden"):
        parser.add_argument("--" + field, type=int, default=getattr(Config, field))
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    log = open(os.path.join(args.out, "log.txt"), "w")

    def say(text):
        print(text, flush=True)
        print(text, file=log, flush=True)

    torch.manual_seed(SEED)
    torch.backends.cuda.matmul.allow_tf32 = True
    train, valid = load(os.path.join(args.data, "train.tokens.xz")), load(os.path.join(args.data, "valid.tokens.xz"))
    config = Config(width=args.width, layers=args.layers, heads=args.heads, hidden=args.hidden)
    model = Model(config).cuda()
    Block.forward = torch.compile(Block.forward, dynamic=True)
    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=args.rate, betas=(0.9, 0.97), fused=True)
    say(f"{sum(p.numel() for p in model.parameters())} parameters, {len(train)} examples, {config}")

    def save(name):
        torch.save({"config": dataclasses.asdict(config), "state": model.state_dict()}, os.path.join(args.out, name))

    saves = {round(args.steps * share) for share in args.save_at}
    rng, step, started, epoch = np.random.default_rng(SEED), 0, time.time(), 0
    while step < args.steps:
        for group in batches(train, rng):
            tokens, weights = collate(train, group)
            for parameters in optimizer.param_groups:
                parameters["lr"] = rate(step, args.steps, args.rate)
            loss = (losses(model, tokens, weights)[0] * weights).sum() / weights.sum()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step in (100, 250, 500) or step % 1000 == 0 or step == args.steps:
                plan_loss, exact = evaluate(model, valid)
                say(f"step {step} epoch {epoch} loss {loss.item():.4f} valid plan loss {plan_loss:.4f} exact {exact:.3f} "
                    f"seconds {time.time() - started:.0f}")
            if step in saves:
                save(f"model-{step}.pt")
            if step == args.steps:
                break
        epoch += 1
    save("model.pt")


if __name__ == "__main__":
    main()
