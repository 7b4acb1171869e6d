#!/usr/bin/env python3
"""The E-step in PyTorch, as Ctrl-G computes it: logarithms scaled per row, flows from the first position to the last.

    benchmarks/cuda/torch_em.py HIDDEN SYMBOLS LENGTH BATCH...

For each batch the line has the median time of a step over one batch, everything on the GPU already, and log p per token.
"""
import sys
import time

import torch

torch.set_grad_enabled(False)


def log_matmul(a, b):
    """log(exp(a) b), a in logarithms, b not."""
    largest = a.amax(-1, keepdim=True)
    return torch.log(torch.exp(a - largest) @ b) + largest


class Model:
    def __init__(self, hidden, symbols, device):
        rows = lambda n, m: torch.rand(n, m, device=device) + 0.05
        self.alpha = rows(hidden, hidden)
        self.alpha /= self.alpha.sum(-1, keepdim=True)
        beta = rows(hidden, symbols)
        self.beta = torch.log(beta / beta.sum(-1, keepdim=True))
        gamma = rows(1, hidden)[0]
        self.gamma = torch.log(gamma / gamma.sum())

    def step(self, x, flows):
        """x: batch x length. Adds to the flows; returns the sum of log p."""
        alpha_flow, beta_flow, gamma_flow = flows
        batch, length = x.shape
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


def main():
    hidden, symbols, length = map(int, sys.argv[1:4])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    model = Model(hidden, symbols, device)
    flows = [torch.zeros(hidden, hidden, device=device), torch.zeros(symbols, hidden, device=device),
             torch.zeros(hidden, device=device)]
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    for batch in map(int, sys.argv[4:]):
        x = torch.randint(1, symbols, (batch, length), device=device)
        x[:, -1] = 0
        times = []
        while len(times) < 3 or (sum(times) < 2 and len(times) < 12):
            wait()
            start = time.perf_counter()
            total = model.step(x, flows)
            wait()
            times.append(time.perf_counter() - start)
        times = sorted(times[1:])
        median = times[len(times) // 2]
        tokens = batch * length
        print(f"torch  H {hidden:5d} V {symbols:6d} L {length:3d}  {batch:7d} sequences  {1e3 * median:9.3f} ms  "
              f"{tokens / median / 1e6:9.3f} Mtok/s  {6 * hidden * hidden * tokens / median / 1e12:7.1f} TFLOP/s  "
              f"log p/token {total.item() / tokens:.8f}", flush=True)


if __name__ == "__main__":
    main()
