#!/usr/bin/env python3
"""Engines that try to break plans, by the thousand, through the package: no plan may be wrong, no call may end otherwise than it says, and no memory
may be held that was not held after a tenth of it.

    METACTRL_LIBRARY=build/libmetactrl_c.so python3 python/tests/attack.py --plans 100000
    METACTRL_LIBRARY=build/libmetactrl_c.so python3 python/tests/attack.py --plans 5000 --through engines
    METACTRL_LIBRARY=build/libmetactrl_c.so python3 python/tests/attack.py --plans 20000 --through transformers --seconds 300

The first chooses token by token, with rows that are NaN, infinite or senseless; it also offers tokens that may not come, seeks where nothing is, takes
back, clones, asks why, and gives rows of the wrong size or kind. The second needs PyTorch: the processor and the loop for transformers with a small model of
our own, and the plug-ins for vLLM and SGLang in what stands for them, with requests that are wrong, hang up, or whose tokens somebody else changed. The third is
`metactrl.transformers.generate` with the library's own models, whose weights are spoiled, in batches, with forced runs and without. Tasks, constraints
and vocabularies are made anew all the time. Ends with 1 if anything was wrong. `--report` leaves what was counted for scripts/attack.
"""

import argparse
import array
import collections
import gc
import importlib.util
import json
import os
import random
import sys
import time

from support import (
    INF, NAN, Wrong, byte_vocabulary, hostile_row, judge, lamps, metactrl, must_refuse, plan_model, problems, task, token_model, word_vocabulary,
)

# MiB: what allocators keep of what was given back, by what is attacked.
SLACK = {"loop": 6, "engines": 24, "transformers": 24}
# Tokens of the largest vocabulary: bytes, 80 pieces, and an end.
WIDEST = 256 + 80 + 1


def memory():
    """MiB of this process that are in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class Watch:
    """Counts, and how much memory there is, from a tenth on. What is held is the least that was seen in a tenth: large tasks come and go."""

    def __init__(self, plans, seconds):
        self.plans, self.seconds, self.begin = plans, seconds, time.monotonic()
        self.counts = collections.Counter()
        self.actions = self.tokens = 0
        self.by_guidance = collections.Counter()
        self.held = {}  # tenth -> MiB
        self.most = 0.0

    def count(self, guidance, tokens, actions):
        """A plan that was judged."""
        self.counts["plans"] += 1
        self.by_guidance[guidance] += 1
        self.tokens += tokens
        self.actions += actions

    def go_on(self):
        done, passed = self.counts["plans"], time.monotonic() - self.begin
        tenth = min(9, int(10 * max(done / max(1, self.plans), passed / self.seconds)))
        if tenth > 0:
            gc.collect()
            now = memory()
            self.most = max(self.most, now)
            self.held[tenth] = min(self.held.get(tenth, now), now)
        return done < self.plans and passed < self.seconds

    def first_and_last(self):
        held = [self.held[tenth] for tenth in sorted(self.held)] or [0.0]
        return held[0], held[-1]


class Loop:
    """Token by token."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        # Made once: what the attack itself holds must not grow.
        rows = [hostile_row(WIDEST, self.draw) for _ in range(64)]
        self.rows = [array.array("f", row) if self.draw.random() < 0.5 else row for row in rows]
        self.plan_model, self.token_model = plan_model(), token_model()
        self.bytes = byte_vocabulary()

    def constraint(self):
        draw = self.draw
        found = task(draw.choice(problems())) if draw.random() < 0.1 else lamps(draw)
        search = found.search() if draw.random() < 0.5 else None
        vocabulary = word_vocabulary("".join(f"{action}\n" for action in search), draw.random()) if search else self.bytes
        trained = found.name not in ("p", None) and draw.random() < 0.6
        return metactrl.Constraint(
            found, vocabulary, draw.choice(("pddl", "json", "sentences")), context=draw.choice(("", "Plan:\n")), horizon=draw.choice((0, 20)),
            hmm=self.plan_model if trained else None), trained

    def row(self, size):
        return self.draw.choice(self.rows)[:size]

    def offend(self, decoder, constraint, counts):
        """What a broken engine might do. Afterwards the decoder is where it was."""
        draw, tokens = self.draw, decoder.tokens
        kind = draw.randrange(7)
        if kind == 0:
            wrong = draw.choice((-1, -(2**31), constraint.size, 2**31 - 1, draw.randrange(constraint.size)))
            if wrong not in decoder.next()[0] and decoder.accept(wrong) != 0:
                raise Wrong(f"took token {wrong}")
        elif kind == 1:
            if decoder.seek(tokens + [constraint.size + 3]) or not decoder.lost or decoder.next()[0]:
                raise Wrong("found a place where none is")
            if not decoder.seek(tokens):
                raise Wrong("lost its own place")
        elif kind == 2:
            back = draw.randrange(len(tokens) + 3)
            decoder.rollback(back)
            if decoder.accept(*tokens[max(0, len(tokens) - back) :]) != min(back, len(tokens)):
                raise Wrong("does not take again what it took")
        elif kind == 3:
            twin = decoder.clone()
            if twin.next() != decoder.next():
                raise Wrong("a clone is something else")
        elif kind == 4:
            must_refuse(lambda: decoder.choose([0.0] * (constraint.size - 1)), metactrl.ArgumentError)
            must_refuse(lambda: decoder.choose(self.row(constraint.size), temperature=draw.choice((NAN, -1.0, -INF))), metactrl.ArgumentError)
        elif kind == 5:
            must_refuse(lambda: decoder.fill_bias(array.array("d", [0.0] * constraint.size)), metactrl.ArgumentError, TypeError)
            must_refuse(lambda: decoder.fill_bitmask(array.array("i", [0])), metactrl.ArgumentError)
            must_refuse(lambda: decoder.accept("open"), metactrl.ArgumentError, TypeError)
        else:
            decoder.explain()
            must_refuse(lambda: decoder.why(draw.choice(("(", "\0", ""))), metactrl.InputError)
            if decoder.why("(no such thing)")["allowed"]:
                raise Wrong("allows an action that is not there")
            legal = constraint.task.search()
            if legal:
                decoder.why(draw.choice(legal))
        if decoder.tokens != tokens:
            raise Wrong("is no longer where it was")
        counts["offences"] += 1

    def some(self, watch):
        """Some plans of one constraint."""
        draw, counts = self.draw, watch.counts
        constraint, trained = self.constraint()
        if constraint.verdict != "solvable":
            counts[constraint.verdict] += 1
            return
        for _ in range(32):
            options = {"guidance": draw.choice(("mask", "trained" if trained else "uniform"))}
            if constraint.vocabulary is self.bytes and draw.random() < 0.3:
                options.update(bridge="hmm", token_hmm=self.token_model)
            decoder = metactrl.Decoder(constraint, **options)
            while not decoder.finished:
                if draw.random() < 0.1:
                    self.offend(decoder, constraint, counts)
                run = decoder.forced() if draw.random() < 0.8 else []
                token = decoder.choose(self.row(constraint.size), temperature=draw.choice((0, 1)), seed=draw.randrange(2**64))
                if token is None:
                    raise Wrong("nothing may come, and the plan is not complete")
                run = run or [token]
                if decoder.accept(*run) != len(run):
                    raise Wrong("does not take what it offers")
            watch.count(options["guidance"], *judge(constraint, decoder.tokens, decoder.text))


class Generate:
    """transformers' generate, with spoiled models."""

    def __init__(self, seed):
        import test_tokenizers
        import test_transformers
        import torch

        self.torch, self.draw = torch, random.Random(seed)
        torch.manual_seed(seed)
        self.model_of = test_transformers.model_of
        self.tokenizers = [test_transformers.wrapped(make()) for make in test_transformers.tokenizer_kinds().values()]
        self.plan_model = plan_model()
        self.models = {}

    def model(self, tokenizer):
        """Of some kind, with weights as no training leaves them, and whether they are in order."""
        kind = self.draw.choice(("llama", "gpt2", "qwen2"))
        key = kind, len(tokenizer)
        if key not in self.models:
            model = self.model_of(kind, len(tokenizer))
            self.models[key] = model, model.get_output_embeddings().weight.detach().clone()
        model, clean = self.models[key]
        with self.torch.no_grad():
            head = model.get_output_embeddings().weight
            head.copy_(clean)
            spoil = self.draw.randrange(4)
            if spoil == 1:
                head[:: self.draw.randint(1, 5)] = NAN
            elif spoil == 2:
                head[:: self.draw.randint(2, 5)] = self.draw.choice((INF, -INF, 3e38))
            elif spoil == 3:
                head.mul_(self.draw.choice((0.0, 1e4, 1e30)))
        return model, spoil == 0

    def some(self, watch):
        from metactrl.transformers import generate

        draw, counts = self.draw, watch.counts
        tokenizer = draw.choice(self.tokenizers)
        model, in_order = self.model(tokenizer)
        vocabulary = metactrl.Vocabulary.from_tokenizer(tokenizer, model=model)
        trained = draw.random() < 0.5
        texts = [draw.choice(("Plan:\n", "Go:\n", "Write down a plan, please.\nPlan:\n")) for _ in range(8)]
        names = [draw.choice(problems()) for _ in range(4)]
        tasks = [task(name) for name in names] + [task(names[0]) if trained else lamps(draw) for _ in range(4)]
        constraints = [
            metactrl.Constraint(found, vocabulary, draw.choice(("pddl", "json", "sentences")), context=text, horizon=12, hmm=self.plan_model if trained else None)
            for found, text in zip(tasks, texts)
        ]
        kept = [i for i, constraint in enumerate(constraints) if constraint.verdict == "solvable"]
        texts, constraints = [texts[i] for i in kept], [constraints[i] for i in kept]
        inputs = tokenizer(texts, return_tensors="pt", padding=True, add_special_tokens=False).to(model.device)
        inputs = {key: inputs[key] for key in ("input_ids", "attention_mask")}
        for _ in range(4):
            guidance = draw.choice(("mask", "trained" if trained else "uniform"))
            options = draw.choice(({}, {}, {"do_sample": True}, {"do_sample": True, "temperature": 3.0}, {"num_beams": 2} if in_order else {}))
            plans = generate(model, inputs, constraints, guidance=guidance, forced_runs="num_beams" not in options and draw.random() < 0.7, **options)
            for plan, constraint in zip(plans, constraints):
                if not plan.valid:
                    raise Wrong(f"not valid: {plan.text!r}")
                watch.count(guidance, *judge(constraint, plan.tokens, plan.text))


def report(watch, seconds, wrong, file):
    """What scripts/attack adds up."""
    cells = [
        {"domain": "tabletop and lamps", "guidance": guidance, "plans": plans, "violations": {}, "particles": 0, "actions": 0, "tokens": 0, "model_calls": 0,
         "asked_val": 0}
        for guidance, plans in sorted(watch.by_guidance.items())
    ]
    for cell in cells[:1]:
        cell.update(actions=watch.actions, tokens=watch.tokens)
    violations = [{"where": "python/tests/attack.py", "kind": "wrong", "detail": wrong}] if wrong else []
    with open(file, "w", encoding="utf-8") as out:
        json.dump({"seconds": round(seconds), "violations": violations, "cells": cells}, out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=100000)
    parser.add_argument("--through", choices=("loop", "engines", "transformers"), default="loop")
    parser.add_argument("--report", help="leaves FILE.json", metavar="FILE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=INF, help="ends then, with what was made")
    options = parser.parse_args()
    for module in {"loop": (), "engines": ("torch",), "transformers": ("torch", "tokenizers", "transformers")}[options.through]:
        if importlib.util.find_spec(module) is None:
            print(f"skipped: {module} is not installed")
            return 0
    if options.through == "engines":
        from attack_engines import Engines as engine_class
    else:
        engine_class = Loop if options.through == "loop" else Generate
    engine = engine_class(options.seed)
    watch, begin, wrong = Watch(options.plans, options.seconds), time.monotonic(), ""
    while not wrong and watch.go_on():
        try:
            engine.some(watch)
        except Wrong as found:
            wrong = f"after {watch.counts['plans']} plans (--seed {options.seed}): {found}"
    slack = SLACK[options.through]
    first, last = watch.first_and_last()
    if not wrong and last > first + slack:
        wrong = f"the memory grew by more than {slack} MiB"
    seconds = time.monotonic() - begin
    if options.report:
        report(watch, seconds, wrong, options.report + ".json")
    counts = {**dict(sorted(watch.counts.items())), **{f"plans, {name}": plans for name, plans in sorted(watch.by_guidance.items())}}
    print(f"{counts.pop('plans', 0)} plans, {int(bool(wrong))} violations, in {seconds:.0f} s; {counts}; memory {first:.1f} MiB held in the second tenth, "
          f"{last:.1f} in the last, {watch.most:.1f} at most")
    if wrong:
        print(f"VIOLATION: {wrong}")
    return 1 if wrong or watch.counts["plans"] < min(options.plans, 100) else 0


if __name__ == "__main__":
    sys.exit(main())
