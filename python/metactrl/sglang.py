"""SGLang: plans from its server, as a grammar backend.

    SGLANG_PLUGINS=metactrl python3 -m sglang.launch_server --model-path MODEL --grammar-backend metactrl

The wheel names `register` in the entry-point group `sglang.srt.plugins`, so that SGLang finds it in each of its processes; without the wheel, call it before the
server is started. A request brings its task with it, as JSON in `ebnf` (or any of the other fields for grammars):

    {"domain": "(define ...", "problem": "(define ...", "format": "json", "guidance": "uniform", "after": "</think>"}

What is wrong with it, and why it has no plan, is the error of this request. So is what fails later: `accept_token` then says so with the ValueError for which
SGLang ends a request.

The mask is ours to define, and carries weights. A row is the packed bits that speculative decoding reads (1: allowed), how many tokens there are, their ids, and
the bits of their weights. -1 everywhere is what SGLang expects of a row that nobody filled: anything may come. A row with more tokens than there is room for is a
mask alone. The bits of a request that has failed are 0, so that no draft is tried behind it; what it may write is in its list.
"""

from __future__ import annotations

from typing import Any, List, Sequence, Tuple

import torch
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    InvalidGrammarObject,
    register_grammar_backend,
)
from sglang.srt.server_args import add_grammar_backend_choices

from .decoding import Batch
from .engine import Request, Requests, Rows
from .errors import ArgumentError, MetactrlError
from .vocabulary import Vocabulary

# Tokens that a row has room for, with weights.
_ROOM = 1024
# What stands where the number of tokens is in rows without a list.
_FREE, _MASK_ALONE = -1, -2


def _words(vocab_size: int) -> int:
    return (vocab_size + 31) // 32


def _packed(tokens: Sequence[int]) -> List[Tuple[int, int]]:
    """Words that are not 0, with their bits as int32 has them."""
    bits: "dict[int, int]" = {}
    for token in tokens:
        bits[token // 32] = bits.get(token // 32, 0) | 1 << (token % 32)
    return [(word, value - (1 << 32) if value >= 1 << 31 else value) for word, value in bits.items()]


class MetactrlGrammar(BaseGrammarObject):  # type: ignore[misc]
    """One answer that is being written."""

    def __init__(self, request: Request, rows: Rows) -> None:
        super().__init__()
        self._request, self._rows = request, rows

    # --- where it is

    def accept_token(self, token: int) -> None:
        if self.is_terminated():
            return
        error = self._request.failed
        if error is not None:
            raise ArgumentError(f"metactrl: no plan: {error}")
        self.current_token = token
        self._request.write([int(token)])

    def rollback(self, k: int) -> None:
        if k > 0:
            self._request.cut(max(0, len(self._request) - k))

    def is_terminated(self) -> bool:
        return self._request.plan.ended

    def copy(self) -> "MetactrlGrammar":
        return MetactrlGrammar(self._request.fork(), self._rows)

    # --- the mask

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:
        shape = batch_size, _words(vocab_size) + 1 + 2 * _ROOM
        return torch.full(shape, _FREE, dtype=torch.int32, pin_memory=torch.cuda.is_available())

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        self._fill([(idx, self)], vocab_mask)

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[Any], vocab_mask: Any) -> None:
        """All rows in one call. An entry has a row and its grammar."""
        MetactrlGrammar._fill([(entry.row, entry.grammar) for entry in entries], vocab_mask)

    @staticmethod
    def _fill(entries: Sequence[Tuple[int, "MetactrlGrammar"]], vocab_mask: Any) -> None:
        if not entries:
            return
        listed = entries[0][1]._rows.next([(one._request, ()) for _, one in entries])
        words = vocab_mask.shape[1] - 1 - 2 * _ROOM
        places: List[Tuple[int, int]] = []
        values: List[int] = []
        heavy: List[Tuple[int, int]] = []
        weights: List[float] = []
        vocab_mask[torch.tensor([row for row, _ in entries], dtype=torch.long)] = _FREE
        held = [(row, one, found) for (row, one), found in zip(entries, listed) if found is not None]
        if not held:
            return
        vocab_mask[torch.tensor([row for row, _, _ in held], dtype=torch.long)] = 0
        for row, one, (ids, row_weights) in held:
            fits = len(ids) <= _ROOM
            places.append((row, words))
            values.append(len(ids) if fits else _MASK_ALONE)
            if one._request.failed is None:
                for word, bits in _packed(ids):
                    places.append((row, word))
                    values.append(bits)
            if fits:
                places += [(row, words + 1 + i) for i in range(len(ids))]
                values += ids
                heavy += [(row, words + 1 + _ROOM + i) for i in range(len(ids))]
                weights += row_weights
        where = torch.tensor(places + heavy, dtype=torch.long)
        bits_of_weights = torch.tensor(weights, dtype=torch.float32).view(torch.int32)
        vocab_mask[where[:, 0], where[:, 1]] = torch.cat([torch.tensor(values, dtype=torch.int32), bits_of_weights])

    @staticmethod
    def reset_vocab_mask(vocab_mask: Any) -> None:
        vocab_mask.fill_(_FREE)

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        """In place, on the logits' device and without waiting for it."""
        words = vocab_mask.shape[1] - 1 - 2 * _ROOM
        size = logits.shape[1]
        shifts = torch.arange(32, device=logits.device, dtype=torch.int32)
        packed = ((vocab_mask[:, :words, None] >> shifts) & 1).bool().flatten(1)
        packed = torch.nn.functional.pad(packed, (0, max(0, size - packed.shape[1])))[:, :size]
        count = vocab_mask[:, words : words + 1]
        ids = vocab_mask[:, words + 1 : words + 1 + _ROOM].long().clamp(0, size - 1)
        weights = vocab_mask[:, words + 1 + _ROOM :].contiguous().view(torch.float32)
        listed = torch.arange(_ROOM, device=logits.device)[None] < count
        added = torch.zeros_like(logits, dtype=torch.float32).scatter_add_(1, ids, torch.where(listed, weights, torch.zeros_like(weights)))
        named = torch.zeros_like(logits, dtype=torch.int32).scatter_add_(1, ids, listed.int()) > 0
        allowed = torch.where(count == _MASK_ALONE, packed, named)
        worst = min(1e30, torch.finfo(logits.dtype).max / 1e4)
        sane = torch.nan_to_num(logits.float(), nan=-worst, posinf=worst, neginf=-worst).clamp(-worst, worst)
        weighed = (sane + added).clamp(-worst, worst).to(logits.dtype)
        out = torch.where(allowed, weighed, torch.full_like(logits, -float("inf")))
        logits.copy_(torch.where(count == _FREE, logits, out))


class MetactrlBackend(BaseGrammarBackend):  # type: ignore[misc]
    """Makes grammars of the texts of requests. Called on threads of the server; what it gives is kept by the text and copied per request."""

    def __init__(self, tokenizer: Any, vocab_size: int, eos_token_ids: Any = None) -> None:
        super().__init__()
        ends = None if eos_token_ids is None else sorted(int(token) for token in eos_token_ids)
        self._requests = Requests(Vocabulary.from_tokenizer(tokenizer, size=vocab_size, end_of_turn=ends))
        self._rows = Rows(Batch())

    def _dispatch(self, key: str) -> Any:
        try:
            request = self._requests.request(self._requests.parse(key))
        except MetactrlError as error:
            return InvalidGrammarObject(str(error))
        return MetactrlGrammar(request, self._rows) if request.failure is None else InvalidGrammarObject(str(request.failure))

    dispatch_ebnf = dispatch_json = dispatch_regex = dispatch_structural_tag = _dispatch

    def set_cache(self, key: Any, value: Any) -> None:
        """SGLang would keep everything that it was ever asked for."""
        self.cache.pop(key, None)
        self.cache[key] = value
        while len(self.cache) > self._requests.most:
            del self.cache[next(iter(self.cache))]


def _make(server_args: Any, tokenizer: Any, vocab_size: int, eos_token_ids: Any = None) -> MetactrlBackend:
    return MetactrlBackend(tokenizer, vocab_size, eos_token_ids)


def register() -> None:
    """Makes `--grammar-backend metactrl` known to SGLang."""
    register_grammar_backend("metactrl", _make)
    add_grammar_backend_choices(["metactrl"])
