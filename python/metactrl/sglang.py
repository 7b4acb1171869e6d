"""SGLang: plans from its server, as a grammar backend.

    SGLANG_PLUGINS=metactrl python3 -m sglang.launch_server --model-path MODEL --grammar-backend metactrl

with `metactrl.sglang:register` in the entry-point group `sglang.srt.plugins`, or called before the server is started. A request brings its task with it, as JSON
in `ebnf` (or any of the other fields for grammars):

    {"domain": "(define ...", "problem": "(define ...", "format": "json", "guidance": "uniform", "after": "</think>"}

The mask is ours to define, and carries weights: a row is the packed bits that speculative decoding reads (1: allowed), then how many tokens there are, their ids, and
the bits of their weights. A row with more tokens than there is room for is a mask alone.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import torch

from .decoding import Batch
from .engine import Request, Requests, Rows
from .errors import MetactrlError
from .vocabulary import Vocabulary

try:
    from sglang.srt.constrained.base_grammar_backend import BaseGrammarBackend, BaseGrammarObject
except ImportError:  # the classes work with whatever calls the same methods
    BaseGrammarBackend = BaseGrammarObject = object

# Tokens that a row has room for, with weights.
_ROOM = 1024


def _words(vocab_size: int) -> int:
    return (vocab_size + 31) // 32


class MetactrlGrammar(BaseGrammarObject):  # type: ignore[misc]
    """One answer that is being written."""

    def __init__(self, request: Request, rows: Rows) -> None:
        if BaseGrammarObject is not object:
            super().__init__()
        self._request, self._rows = request, rows
        self._tokens: List[int] = []
        self.finished = False

    # --- where it is

    def accept_token(self, token: int) -> None:
        self._tokens.append(int(token))

    def rollback(self, k: int) -> None:
        if k > 0:
            del self._tokens[-k:]

    def is_terminated(self) -> bool:
        plan = self._request.plan_tokens(self._tokens)
        return plan is not None and len(plan) > 0 and plan[-1] in self._request.ends

    def copy(self) -> "MetactrlGrammar":
        made = MetactrlGrammar(self._request.fork(), self._rows)
        made._tokens = list(self._tokens)
        return made

    def maybe_init_reasoning(self, reasoning: bool) -> None:
        """What comes before the plan is in the request (`after`)."""

    # --- the mask

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:
        return torch.zeros((batch_size, _words(vocab_size) + 1 + 2 * _ROOM), dtype=torch.int32, device="cpu")

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        self.fill_vocab_mask_batched([(self, idx)], vocab_mask)

    @staticmethod
    def fill_vocab_mask_batched(grammars: List[Tuple["MetactrlGrammar", int]], vocab_mask: Any) -> None:
        """Several rows in one call."""
        if not grammars:
            return
        listed = grammars[0][0]._rows.next([one._request for one, _ in grammars], [one._tokens for one, _ in grammars])
        words = vocab_mask.shape[1] - 1 - 2 * _ROOM
        for (_, row), found in zip(grammars, listed):
            line = vocab_mask[row]
            if found is None:
                line[:words] = -1
                line[words] = -1  # anything may come
                continue
            ids, weights = found
            bits: Dict[int, int] = {}
            for token in ids:
                bits[token // 32] = bits.get(token // 32, 0) | 1 << (token % 32)
            signed = [bit - (1 << 32) if bit >= 1 << 31 else bit for bit in bits.values()]
            line[:words] = 0
            line[torch.tensor(list(bits), dtype=torch.long)] = torch.tensor(signed, dtype=torch.int32)
            if len(ids) > _ROOM:
                line[words] = -1
                continue
            line[words] = len(ids)
            line[words + 1 : words + 1 + len(ids)] = torch.tensor(ids, dtype=torch.int32)
            line[words + 1 + _ROOM : words + 1 + _ROOM + len(ids)] = torch.tensor(weights, dtype=torch.float32).view(torch.int32)

    @staticmethod
    def reset_vocab_mask(vocab_mask: Any) -> None:
        """As for rows without a grammar: anything may come."""
        words = vocab_mask.shape[1] - 1 - 2 * _ROOM
        vocab_mask[:, :words] = -1
        vocab_mask[:, words] = -1

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        """In place, on the logits' device and without waiting for it."""
        words = vocab_mask.shape[1] - 1 - 2 * _ROOM
        size = logits.shape[1]
        shifts = torch.arange(32, device=logits.device, dtype=torch.int32)
        allowed = ((vocab_mask[:, :words, None] >> shifts) & 1).bool().flatten(1)
        allowed = torch.nn.functional.pad(allowed, (0, max(0, size - allowed.shape[1])))[:, :size]
        count = vocab_mask[:, words : words + 1]
        ids = vocab_mask[:, words + 1 : words + 1 + _ROOM].long().clamp(0, size - 1)
        weights = vocab_mask[:, words + 1 + _ROOM :].contiguous().view(torch.float32)
        listed = torch.arange(_ROOM, device=logits.device)[None] < count
        added = torch.zeros_like(logits, dtype=torch.float32).scatter_add_(1, ids, torch.where(listed, weights, torch.zeros_like(weights)))
        worst = min(1e30, torch.finfo(logits.dtype).max / 1e4)
        sane = torch.nan_to_num(logits.float(), nan=-worst, posinf=worst, neginf=-worst).clamp(-worst, worst)
        weighed = (sane + added).clamp(-worst, worst).to(logits.dtype)
        ours = ~((count < 0) & allowed.all(1, keepdim=True))
        out = torch.where(allowed, weighed, torch.full_like(logits, -float("inf")))
        logits.copy_(torch.where(ours, out, logits))

    # --- jump-forward, which the server no longer asks for

    def try_jump_forward(self, tokenizer: Any) -> Optional[Tuple[List[int], str]]:
        return None

    def jump_forward_str_state(self, helper: Any) -> Tuple[str, int]:
        raise NotImplementedError("metactrl forces tokens, not texts")

    def jump_and_retokenize(self, old_output_ids: List[int], new_output_ids: List[int], next_state: int) -> None:
        raise NotImplementedError("metactrl forces tokens, not texts")


class MetactrlBackend(BaseGrammarBackend):  # type: ignore[misc]
    """Makes grammars of the texts of requests. Called on threads of the server; what it gives is kept by the text and copied per request."""

    def __init__(self, tokenizer: Any, vocab_size: int, eos_token_ids: Any = None) -> None:
        if BaseGrammarBackend is not object:
            super().__init__()
        ends = None if eos_token_ids is None else sorted(int(token) for token in eos_token_ids)
        self._requests = Requests(lambda: Vocabulary.from_tokenizer(tokenizer, size=vocab_size, end_of_turn=ends))
        self._rows = Rows(Batch())

    def _dispatch(self, key: str) -> Any:
        try:
            request = self._requests.request(self._requests.parse(key))
        except MetactrlError as error:
            return _invalid(str(error))
        if request.failure is not None:
            return _invalid(str(request.failure))
        return MetactrlGrammar(request, self._rows)

    dispatch_ebnf = dispatch_json = dispatch_regex = dispatch_structural_tag = _dispatch


def _invalid(message: str) -> Any:
    """How this SGLang says that a request's grammar is wrong."""
    try:
        from sglang.srt.constrained import base_grammar_backend as module
    except ImportError:
        return None
    made = getattr(module, "InvalidGrammarObject", None)
    if made is not None:
        return made(message)
    return getattr(module, "INVALID_GRAMMAR_OBJ", None)


def _make(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Any = None) -> MetactrlBackend:
    return MetactrlBackend(tokenizer, vocab_size, eos_token_ids)


def register() -> None:
    """Makes `--grammar-backend metactrl` known to SGLang."""
    from sglang.srt.constrained.base_grammar_backend import register_grammar_backend
    from sglang.srt.server_args import add_grammar_backend_choices

    register_grammar_backend("metactrl", _make)
    add_grammar_backend_choices(["metactrl"])
