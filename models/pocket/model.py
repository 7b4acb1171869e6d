"""The network: Llama's, so that llama.cpp runs it. RMSNorm, rotary positions on neighbouring pairs, SwiGLU, grouped queries, embeddings
tied."""
import dataclasses

import torch
from torch import nn
from torch.nn import functional as F


@dataclasses.dataclass
class Config:
    vocabulary: int = 4096
    context: int = 4096
    width: int = 384
    layers: int = 7
    heads: int = 6
    key_heads: int = 3
    hidden: int = 1024
    eps: float = 1e-5
    rope_base: float = 10000.0


class Norm(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps)).to(x.dtype) * self.weight.to(x.dtype)


def rotate(x, cos, sin):
    """Pairs (0, 1), (2, 3), ... of each head are turned: the order that llama.cpp expects of this architecture."""
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2).to(x.dtype)


def attend(q, k, v):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    length = q.shape[2]  # old PyTorch, for tests
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    hidden = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
    return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads, self.key_heads, self.size = c.heads, c.key_heads, c.width // c.heads
        self.attn_norm = Norm(c.width, c.eps)
        self.attn_q = nn.Linear(c.width, c.width, bias=False)
        self.attn_k = nn.Linear(c.width, c.key_heads * self.size, bias=False)
        self.attn_v = nn.Linear(c.width, c.key_heads * self.size, bias=False)
        self.attn_output = nn.Linear(c.width, c.width, bias=False)
        self.ffn_norm = Norm(c.width, c.eps)
        self.ffn_gate = nn.Linear(c.width, c.hidden, bias=False)
        self.ffn_up = nn.Linear(c.width, c.hidden, bias=False)
        self.ffn_down = nn.Linear(c.hidden, c.width, bias=False)

    def forward(self, x, cos, sin):
        batch, length, width = x.shape
        split = lambda y, heads: y.view(batch, length, heads, self.size).transpose(1, 2)
        h = self.attn_norm(x)
        q = rotate(split(self.attn_q(h), self.heads), cos, sin)
        k = rotate(split(self.attn_k(h), self.key_heads), cos, sin)
        v = split(self.attn_v(h), self.key_heads)
        share = self.heads // self.key_heads
        y = attend(q, k.repeat_interleave(share, 1), v.repeat_interleave(share, 1))
        x = x + self.attn_output(y.transpose(1, 2).reshape(batch, length, width))
        h = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


class Model(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.config = c
        self.token_embd = nn.Embedding(c.vocabulary, c.width)
        self.blk = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.output_norm = Norm(c.width, c.eps)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02 if "output" not in name and "down" not in name else 0.02 / (2 * c.layers) ** 0.5)
        size = c.width // c.heads
        angles = torch.outer(torch.arange(c.context).float(), c.rope_base ** (-torch.arange(0, size, 2).float() / size))
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, tokens):
        x = self.token_embd(tokens)
        cos, sin = self.cos[: tokens.shape[1]], self.sin[: tokens.shape[1]]
        for block in self.blk:
            x = block(x, cos, sin)
        return F.linear(self.output_norm(x), self.token_embd.weight)
