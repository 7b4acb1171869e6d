#!/usr/bin/env python3
"""Trains the pocket planner on one GPU, by the clock.

    train.py --data FOLDER[,FOLDER...] --out FOLDER --seconds 840 [--stop-after 560] [--resume | --start model.pt]

Reads train.tokens of each folder and valid.tokens of the first (bpe.py), writes model.pt, training.pt, log.tsv (plot.py draws it) and
log.txt. The learning rate follows the clock: it rises for 2 % of --seconds, falls as a cosine, and reaches its end when the time is up,
however fast the machine is. Where one run may not last so long, --stop-after ends it early with a checkpoint, and --resume goes on; time
spent counts. --start begins with the weights of another training. Both want the vocabulary that the weights were trained with. A batch
holds examples of about the same length; loss on the plan counts fully, loss on the prompt three tenths: reading is what the model
practises on the prompt, writing is what it is for.

model.pt is the model, for export_gguf.py and --start. training.pt is the checkpoint, with all that --resume needs, the weights as well.
Each is replaced as a whole, model.pt first: whenever the script is killed, both are good, and the model is as far as the checkpoint or
one further.

--device cpu is for tests of the script.
"""
import contextlib
import dataclasses
import math
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import support  # noqa: E402

support.need("numpy", "torch")

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from bpe import HEAD, MODULES, vocabulary_of  # noqa: E402
from model import Block, Config, Model  # noqa: E402

PROMPT_WEIGHT = 0.3
MUON_RATE = 10  # times the other rate
SEED = 1
WARM_UP = 0.02  # of the time
LAST_RATE = 0.02  # of the peak
EVALUATE_EVERY = 30  # seconds


def load(file):
    """(module, tokens, number of prompt tokens) each."""
    data = np.fromfile(file, dtype="<u2", offset=HEAD)
    examples, at = [], 0
    while at < len(data):
        module, prompt, plan = (int(n) for n in data[at : at + 3])
        examples.append((module, data[at + 3 : at + 3 + prompt + plan], prompt))
        at += 3 + prompt + plan
    if not examples:
        raise SystemExit(f"train.py: {file} has no examples")
    return examples


def load_checkpoint(file, config, vocabulary, device):
    """A file of Trainer.save, if it goes with this network and this vocabulary."""
    saved = support.load_weights(file, device, vocabulary, "the tokens in --data; encode the examples with its own (bpe.py --vocabulary), "
                                 "or begin anew in another folder")
    if saved["config"] != dataclasses.asdict(config):
        raise SystemExit(f"train.py: {file} is a network of another size, {Config(**saved['config'])}; give the options that it was trained with")
    return saved


def batches(examples, rng, size):
    """One epoch. Examples are sorted by length with some noise, cut into batches, and the batches shuffled."""
    lengths = np.array([len(tokens) for _, tokens, _ in examples])
    order = np.argsort(lengths + rng.uniform(0, 32, len(lengths)), kind="stable")
    groups, group, longest = [], [], 0
    for i in order:
        longest = max(longest, lengths[i])
        if group and (len(group) + 1) * longest > size:
            groups.append(group)
            group, longest = [], lengths[i]
        group.append(i)
    groups.append(group)
    rng.shuffle(groups)
    return groups


class Muon(torch.optim.Optimizer):
    """Momentum, made orthogonal: each matrix moves by the nearest rotation of its update (five steps of Newton and Schulz, in 16 bits).
    Matrices of one shape are worked on together."""

    def __init__(self, matrices, lr, momentum=0.95):
        super().__init__(matrices, {"lr": lr, "momentum": momentum})

    @staticmethod
    def rotations(updates):
        x = updates.bfloat16()
        tall = x.shape[1] > x.shape[2]
        x = x.mT if tall else x
        x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
        for _ in range(5):
            a = x @ x.mT
            x = 3.4445 * x + (-4.7750 * a + 2.0315 * (a @ a)) @ x
        return (x.mT if tall else x).float()

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            by_shape = {}
            for p in group["params"]:
                by_shape.setdefault(tuple(p.shape), []).append(p)
            for (rows, columns), matrices in by_shape.items():
                for p in matrices:
                    if "moving" not in self.state[p]:
                        self.state[p]["moving"] = torch.zeros_like(p)
                moving = torch.stack([self.state[p]["moving"] for p in matrices])
                gradient = torch.stack([p.grad for p in matrices])
                moving = torch.lerp(gradient, moving, group["momentum"])
                update = self.rotations(torch.lerp(gradient, moving, group["momentum"]))
                rate = group["lr"] * max(1, rows / columns) ** 0.5
                for p, new, change in zip(matrices, moving, update):
                    self.state[p]["moving"].copy_(new)
                    p.mul_(1 - group["lr"] * 0.01).add_(change, alpha=-rate)


class Trainer:
    def __init__(self, args):
        self.args = args
        folders = args.data.split(",")
        self.files = [os.path.join(folder, "train.tokens") for folder in folders] + [os.path.join(folders[0], "valid.tokens")]
        self.vocabulary = vocabulary_of(self.files)
        self.cuda = args.device == "cuda"
        self.config = Config(width=args.width, layers=args.layers, heads=args.heads, key_heads=args.key_heads, hidden=args.hidden)
        torch.manual_seed(SEED)
        self.model = Model(self.config).to(args.device)
        if self.cuda:
            torch.backends.cuda.matmul.allow_tf32 = True
        if args.compile:
            torch._dynamo.config.suppress_errors = True  # what cannot be compiled runs as it is
            Block.forward = torch.compile(Block.forward, dynamic=True)
        vectors = [p for p in self.model.parameters() if p.dim() == 1]
        matrices = [p for name, p in self.model.named_parameters() if p.dim() == 2 and "token_embd" not in name]
        embeddings = [self.model.token_embd.weight]
        by_adam = embeddings if args.optimizer == "muon" else embeddings + matrices
        self.optimizers = [torch.optim.AdamW(
            [{"params": by_adam, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}],
            lr=args.rate, betas=(0.9, 0.97), **({"fused": True} if self.cuda else {}))]
        if args.optimizer == "muon":
            self.optimizers.append(Muon(matrices, args.rate * MUON_RATE))
        self.step, self.spent, self.epoch, self.tokens = 0, 0.0, 0, 0
        if args.resume:
            self.restore()
        elif args.start:
            self.model.load_state_dict(load_checkpoint(args.start, self.config, self.vocabulary, args.device)["state"])

    def open_logs(self):
        os.makedirs(self.args.out, exist_ok=True)
        mode = "a" if self.args.resume else "w"
        self.text = open(self.path("log.txt"), mode)
        self.table = open(self.path("log.tsv"), mode)
        if not self.args.resume:
            print("\t".join(["step", "seconds", "tokens", "rate", "loss", "valid", "exact"] + MODULES), file=self.table, flush=True)

    def say(self, text):
        print(text, flush=True)
        print(text, file=self.text, flush=True)

    def path(self, name):
        return os.path.join(self.args.out, name)

    def save(self):
        model = {"config": dataclasses.asdict(self.config), "vocabulary_sha256": self.vocabulary, "step": self.step,
                 "state": self.model.state_dict()}
        training = {"optimizers": [o.state_dict() for o in self.optimizers], "spent": self.spent, "epoch": self.epoch, "tokens": self.tokens}
        with support.replacing(self.path("model.pt"), self.path("training.pt")) as names:
            torch.save(model, names[0])
            torch.save({**model, **training}, names[1])

    def restore(self):
        saved = load_checkpoint(self.path("training.pt"), self.config, self.vocabulary, self.args.device)
        self.model.load_state_dict(saved["state"])
        for optimizer, state in zip(self.optimizers, saved["optimizers"]):
            optimizer.load_state_dict(state)
        self.step, self.spent, self.epoch, self.tokens = saved["step"], saved["spent"], saved["epoch"], saved["tokens"]

    def done(self):
        return self.spent >= self.args.seconds

    def rate(self):
        done = min(1.0, self.spent / self.args.seconds)
        if done < WARM_UP:
            return self.args.rate * (done / WARM_UP + 0.01)
        return self.args.rate * (LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * (done - WARM_UP) / (1 - WARM_UP))))

    def collate(self, examples, group):
        longest = -(-max(len(examples[i][1]) for i in group) // 32) * 32
        tokens = np.zeros((len(group), longest + 1), dtype=np.int64)
        weights = np.zeros((len(group), longest), dtype=np.float32)
        for row, i in enumerate(group):
            _, text, prompt = examples[i]
            tokens[row, : len(text)] = text
            weights[row, : prompt - 1] = PROMPT_WEIGHT
            weights[row, prompt - 1 : len(text) - 1] = 1
        pair = (torch.from_numpy(a) for a in (tokens, weights))
        return tuple(a.pin_memory().cuda(non_blocking=True) for a in pair) if self.cuda else tuple(pair)

    def losses(self, tokens, weights):
        cast = torch.autocast("cuda", dtype=torch.bfloat16) if self.cuda else contextlib.nullcontext()
        with cast:
            logits = self.model(tokens[:, :-1])
        return F.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten(), reduction="none").view_as(weights), logits

    def evaluate(self, examples):
        """Mean loss per plan token, over all and per module, and the share of plans whose every token is the model's first choice."""
        total, count, exact = np.zeros(len(MODULES)), np.zeros(len(MODULES)), 0
        with torch.no_grad():
            for group in batches(examples, np.random.default_rng(0), self.args.batch):
                tokens, weights = self.collate(examples, group)
                loss, logits = self.losses(tokens, weights)
                on_plan = weights == 1
                exact += ((logits.argmax(-1) == tokens[:, 1:]) | ~on_plan).all(1).sum().item()
                sums, counts = (loss * on_plan).sum(1).tolist(), on_plan.sum(1).tolist()
                for row, i in enumerate(group):
                    total[examples[i][0]] += sums[row]
                    count[examples[i][0]] += counts[row]
        return total.sum() / count.sum(), exact / len(examples), total / np.maximum(count, 1)

    def report(self, loss, valid):
        overall, exact, by_module = self.evaluate(valid)
        self.say(f"step {self.step} epoch {self.epoch} seconds {self.spent:.0f} loss {loss:.4f} valid {overall:.4f} exact {exact:.3f} "
                 f"rate {self.rate():.5f}; " + " ".join(f"{m} {x:.3f}" for m, x in zip(MODULES, by_module)))
        row = [self.step, f"{self.spent:.1f}", self.tokens, f"{self.rate():.6f}", f"{loss:.5f}", f"{overall:.5f}", f"{exact:.4f}"]
        print("\t".join(str(x) for x in row + [f"{x:.5f}" for x in by_module]), file=self.table, flush=True)

    def run(self):
        args = self.args
        train, valid = [example for file in self.files[:-1] for example in load(file)], load(self.files[-1])
        self.open_logs()
        self.say(f"{sum(p.numel() for p in self.model.parameters())} parameters, {len(train)} examples, "
                 f"{sum(len(t) for _, t, _ in train)} tokens, {self.config}, PyTorch {torch.__version__}")
        before, started, evaluated = self.spent, time.time(), self.spent
        while True:
            for group in batches(train, np.random.default_rng([SEED, self.epoch, self.step]), args.batch):
                tokens, weights = self.collate(train, group)
                for optimizer, scale in zip(self.optimizers, (1, MUON_RATE)):
                    for parameters in optimizer.param_groups:
                        parameters["lr"] = self.rate() * scale
                loss = (self.losses(tokens, weights)[0] * weights).sum() / weights.sum()
                self.model.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                for optimizer in self.optimizers:
                    optimizer.step()
                self.step += 1
                self.tokens += int(tokens.numel())
                if self.step % 10 and self.cuda:
                    continue  # the clock is read, and the GPU waited for, every tenth step
                value = loss.item()
                if not math.isfinite(value):
                    raise SystemExit(f"train.py: the loss is {value} at step {self.step}")
                self.spent = before + time.time() - started
                over = self.done() or self.spent - before >= args.stop_after
                if self.step in (20, 100, 500):
                    self.say(f"step {self.step} seconds {self.spent:.1f} loss {value:.4f} tokens {self.tokens}")
                if self.spent - evaluated >= EVALUATE_EVERY or over or self.step in (500, 1500):
                    self.report(value, valid)
                    evaluated = self.spent
                    self.save()
                if over:
                    return
            self.epoch += 1


def main():
    parser = support.Parser(__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=support.number(float, 0.001, 1e9), required=True, help="the whole training")
    parser.add_argument("--stop-after", type=support.number(float, 0, 1e9), default=math.inf, help="seconds of this run")
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument("--resume", action="store_true", help="go on with the training in --out")
    begin.add_argument("--start", metavar="FILE", help="model.pt of another training; this one begins with its weights")
    parser.add_argument("--compile", action="store_true", help="torch.compile: a minute to begin with, then faster")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--batch", type=support.number(int, 1, 1e9), default=32768, help="tokens")
    parser.add_argument("--optimizer", default="muon", choices=["muon", "adam"])
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    for field in ("width", "layers", "heads", "key_heads", "hidden"):
        parser.add_argument("--" + field.replace("_", "-"), type=int, default=getattr(Config, field))
    args = parser.parse_args()
    if args.device == "cuda":
        support.need("gpu")
    trainer = Trainer(args)
    if trainer.done():
        print(f"this training is done: {trainer.spent:.0f} of {args.seconds:.0f} seconds, {trainer.step} steps; nothing is changed")
        return
    trainer.run()


if __name__ == "__main__":
    main()
