#!/usr/bin/env python3
"""A step of training in PyTorch, E and M, as Ctrl-G computes it: logarithms scaled per row, flows from the first position
to the last; parameters and flows stay on the GPU.

    benchmarks/cuda/torch_em.py HIDDEN SYMBOLS LENGTH SEQUENCES...

The model and the sequences are those of hmm_device_benchmark. For each number of sequences the line has the median time of
a step, and log p per token of the model at the start and behind three steps. Sequences are taken in batches of up to 1024.
"""
import sys
import time

import torch

torch.set_grad_enabled(False)
BATCH = 1024
PSEUDOCOUNT = 1e-3


class Random:
    """internal::Random (support/splitmix.h), many numbers at a time."""

    def __init__(self, seed, device):
        self.drawn, self.seed, self.device = 0, seed, device

    def uniform(self, count):
        def signed(value):
            return value - (1 << 64) if value >= 1 << 63 else value

        def mixed(z, shift, factor):
            return (z ^ ((z >> shift) & ((1 << (64 - shift)) - 1))) * signed(factor)

        z = torch.arange(self.drawn + 1, self.drawn + count + 1, device=self.device)
        self.drawn += count
        z = z * signed(0x9E3779B97F4A7C15) + self.seed
        z = mixed(z, 30, 0xBF58476D1CE4E5B9)
        z = mixed(z, 27, 0x94D049BB133111EB)
        z = z ^ ((z >> 31) & ((1 << 33) - 1))
        return ((z >> 11) & ((1 << 53) - 1)).double() * 2.0 ** -53


def log_matmul(a, b):
    """log(exp(a) b), a in logarithms, b not."""
    largest = a.amax(-1, keepdim=True)
    return torch.log(torch.exp(a - largest) @ b) + largest


class Model:
    def __init__(self, hidden, symbols, device):
        random = Random(1, device)
        rows = lambda n, m: random.uniform(n * m).float().add_(0.05).view(n, m)
        gamma = rows(1, hidden)[0]
        self.gamma = torch.log(gamma / gamma.sum())
        self.alpha = rows(hidden, hidden)
        self.alpha /= self.alpha.sum(-1, keepdim=True)
        part = max(1, (1 << 26) // hidden)
        beta = torch.cat([rows(min(part, symbols - at), hidden) for at in range(0, symbols, part)])  # symbols x hidden
        self.beta = torch.log(beta / beta.sum(0)).T.contiguous()
        self.flows = [torch.zeros_like(self.alpha), torch.zeros_like(beta), torch.zeros_like(self.gamma)]

    def step(self, x):
        """x: sequences x length. One step; returns the sum of log p before it."""
        for flow in self.flows:
            flow.zero_()
        total = sum(self.count(part) for part in x.split(BATCH))
        alpha_flow, beta_flow, gamma_flow = self.flows
        alpha = self.alpha * alpha_flow + PSEUDOCOUNT / len(self.gamma)
        self.alpha = alpha / alpha.sum(-1, keepdim=True)
        beta = beta_flow + PSEUDOCOUNT / len(beta_flow)
        self.beta = torch.log(beta / beta.sum(0)).T.contiguous()
        gamma = gamma_flow + PSEUDOCOUNT / len(gamma_flow)
        self.gamma = torch.log(gamma / gamma.sum())
        return total

    def count(self, x):
        """Adds to the flows; returns the sum of log p."""
        alpha_flow, beta_flow, gamma_flow = self.flows
        length = x.shape[1]
        emitted = self.beta[:, x].permute(2, 1, 0).contiguous()  # length x batch x hidden
        ahead = [None] * length  # log p(x_t ... | z_t)
        behind = [None] * length  # log p(x_(t+1) ... | z_t)
        y = emitted[length - 1]
        ahead[length - 1] = y
        for t in range(length - 2, -1, -1):
            behind[t] = log_matmul(y, self.alpha.T)
            y = emitted[t] + behind[t]
            ahead[t] = y
        root = self.gamma + ahead[0]
        likelihood = torch.logsumexp(root, -1)
        flow = torch.exp(root - likelihood[:, None])
        gamma_flow += flow.sum(0)
        for t in range(length):
            beta_flow.index_add_(0, x[:, t], flow)
            if t + 1 == length:
                break
            largest = ahead[t + 1].amax(-1, keepdim=True)
            scaled = torch.exp(ahead[t + 1] - largest)
            share = flow / torch.exp(behind[t] - largest)
            alpha_flow += share.T @ scaled
            flow = (share @ self.alpha) * scaled
        return likelihood.sum()


def sequences(symbols, length, count, device):
    drawn = Random(2, device).uniform(count * (length - 1)).view(count, length - 1)
    x = (drawn * (symbols - 1)).long().clamp(max=symbols - 2) + 1
    return torch.cat([x, torch.zeros(count, 1, dtype=x.dtype, device=device)], 1)


def main():
    hidden, symbols, length = map(int, sys.argv[1:4])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    for count in map(int, sys.argv[4:]):
        model = Model(hidden, symbols, device)
        x = sequences(symbols, length, count, device)
        times = []
        tokens = count * length
        while len(times) < 4 or (sum(times) < 2 and len(times) < 20):
            wait()
            start = time.perf_counter()
            total = model.step(x)
            wait()
            times.append(time.perf_counter() - start)
            if len(times) == 1:
                first = total.item() / tokens
            if len(times) == 4:
                fourth = total.item() / tokens
        times = sorted(times[1:])
        median = times[len(times) // 2]
        print(f"torch  H {hidden:5d} V {symbols:6d} L {length:3d}  {count:7d} sequences  {1e3 * median:9.3f} ms  "
              f"{tokens / median / 1e6:9.3f} Mtok/s  {6 * hidden * hidden * tokens / median / 1e12:7.1f} TFLOP/s  "
              f"log p/token {first:.8f}, then {fourth:.8f}", flush=True)
        del model


if __name__ == "__main__":
    main()
