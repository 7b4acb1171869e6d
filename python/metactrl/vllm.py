"""vLLM: plans from its server, as a logits processor for both of its model runners.

    vllm serve MODEL --logits-processors metactrl.vllm:MetactrlLogitsProcessor

A request brings its task with it (`vllm_xargs` over HTTP, `SamplingParams(extra_args=...)` in Python), under keys that begin with metactrl_:

    "vllm_xargs": {"metactrl_task": "dishwasher"}                                a task that the server knows
    "vllm_xargs": {"metactrl_domain": "(define ...", "metactrl_problem": "(define ..."}
    and metactrl_format, metactrl_guidance, metactrl_horizon, metactrl_context, metactrl_after ("</think>": plan behind this)

Tasks that the server knows, and the end of its chat template, are in the engine's configuration; so is, under "hmm", the file of a model of plans for
requests with guidance "trained":

    --additional-config '{"metactrl": {"context": "<|im_start|>assistant\\n", "tasks": {"dishwasher": ["domain.pddl", "dishwasher.pddl"]}}}'

Requests without such keys are left alone. Mistakes that can be seen in a request are refused with it. What turns out later (a task that the server does not know, or
that has no plan) is the answer's own text: "metactrl: no plan: " and why; the other requests do not notice. The class is named on the command line, and not
found by entry point: vLLM repairs the tokens of processors that were named, and of no others. vLLM has no place for grammars of others, so weights and masks alike go
through the logits.

What vLLM hands over differs between its runners, and so do the two halves of the class: the V1 runner keeps rows and requests together and says when they move, Model
Runner V2 gives every row its slot anew. Both halves end in the same call: these requests have generated these tokens; what may come?
"""

from __future__ import annotations

import pathlib
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import torch

from .decoding import Hmm
from .engine import Request, Requests, Rows
from .errors import ArgumentError
from .tasks import Task
from .vocabulary import Vocabulary

_PREFIX = "metactrl_"


def _bases() -> Tuple[type, ...]:
    """The interfaces of both runners, as far as this vLLM has them."""
    found: List[type] = []
    try:
        from vllm.v1.sample.logits_processor import LogitsProcessor as V1

        found.append(V1)
    except ImportError:
        pass
    try:
        from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor as V2

        if V2 not in found:
            found.append(V2)
    except ImportError:
        pass
    return tuple(found) or (object,)


def _tokenizer(model_config: Any) -> Any:
    """The tokenizer that the engine itself uses."""
    try:
        from vllm.tokenizers import cached_tokenizer_from_config

        return cached_tokenizer_from_config(model_config)
    except ImportError:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(model_config.tokenizer, trust_remote_code=getattr(model_config, "trust_remote_code", False))


def _given(params: Any) -> Optional[Dict[str, Any]]:
    """What a request asks for, or None if that is nothing of ours."""
    extra: Mapping[str, Any] = getattr(params, "extra_args", None) or {}
    found = {key[len(_PREFIX) :]: value for key, value in extra.items() if key.startswith(_PREFIX)}
    if isinstance(found.get("horizon"), float) and found["horizon"].is_integer():
        found["horizon"] = int(found["horizon"])  # numbers over HTTP
    return found or None


def _read_tasks(settings: Mapping[str, Any]) -> Dict[str, Tuple[str, str]]:
    tasks = {}
    for name, (domain, problem) in (settings.get("tasks") or {}).items():
        tasks[name] = pathlib.Path(domain).read_text(encoding="utf-8"), pathlib.Path(problem).read_text(encoding="utf-8")
    return tasks


# What would take allowed tokens away, put others in their place, or keep an answer from ending.
_FORBIDDEN = {
    "ignore_eos": False,
    "min_tokens": 0,
    "logit_bias": None,
    "allowed_token_ids": None,
    "bad_words": None,
    "stop": None,
    "structured_outputs": None,
    "repetition_detection": None,
    "trace_decode_token_ids": None,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "repetition_penalty": 1.0,
}


class MetactrlLogitsProcessor(*_bases()):  # type: ignore[misc]
    """See the module. `rest` is (device, is_pin_memory) from the V1 runner and the states of requests from V2."""

    def __init__(self, vllm_config: Any, *rest: Any) -> None:
        settings = (getattr(vllm_config, "additional_config", None) or {}).get("metactrl") or {}
        model = vllm_config.model_config
        width = int(model.get_vocab_size())
        self._requests = Requests(
            Vocabulary.from_tokenizer(_tokenizer(model), size=width, end_of_turn=self._ends(model)),
            _read_tasks(settings),
            context=settings.get("context", ""),
            hmm=Hmm(settings["hmm"]) if settings.get("hmm") else None,
        )
        self._rows = Rows()
        # Slot -> what it writes. V1: with vLLM's own list of its tokens.
        self._slots: Dict[int, Tuple[Request, List[int]]] = {}
        self._states = rest[0] if len(rest) == 1 else None

    @staticmethod
    def _ends(model_config: Any) -> Optional[List[int]]:
        """What ends a turn: the model's own list, where it has one besides the tokenizer's."""
        generation = model_config.try_get_generation_config() if hasattr(model_config, "try_get_generation_config") else {}
        found = (generation or {}).get("eos_token_id")
        if found is None:
            return None
        tokens = found if isinstance(found, (list, tuple)) else [found]
        own = getattr(_tokenizer(model_config), "eos_token_id", None)
        return sorted({int(token) for token in tokens} | ({int(own)} if own is not None else set()))

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """In the front end, before a request is taken on: raises ValueError."""
        given = _given(sampling_params)
        if given is None:
            return
        Requests.check(given)
        for name, plain in _FORBIDDEN.items():
            value = getattr(sampling_params, name, plain)
            if value != plain and value not in (None, [], {}, ""):
                raise ArgumentError(f"{name} cannot be used together with metactrl: a plan must be free to end and to be written")
        if getattr(sampling_params, "thinking_token_budget", None) is not None and "after" not in given:
            raise ArgumentError("thinking_token_budget needs metactrl_after, the text behind which the plan begins: it puts tokens of its own into the answer")
        if "domain" in given:
            Task(given["domain"], given["problem"])  # mistakes with their places

    def is_argmax_invariant(self) -> bool:
        return False

    def _start(self, slot: int, params: Any, tokens: List[int]) -> bool:
        self._slots.pop(slot, None)
        given = _given(params)
        if given is None:
            return False
        self._slots[slot] = self._requests.request(given), tokens
        return True

    def _weigh(self, logits: Any, rows: Sequence[int], asked: Sequence[Tuple[Request, Sequence[int]]]) -> Any:
        """Rows of logits that are ours, in place: all but what may come is out."""
        listed = self._rows.next(asked)
        ours: List[int] = []
        places: List[int] = []
        columns: List[int] = []
        weights: List[float] = []
        for row, found in zip(rows, listed):
            if found is None:
                continue
            ours.append(row)
            places += [row] * len(found[0])
            columns += found[0]
            weights += found[1]
        if not ours:
            return logits
        where = torch.tensor([places, columns], dtype=torch.long).to(logits.device, non_blocking=True)
        added = torch.tensor(weights, dtype=torch.float32).to(logits.device, non_blocking=True)
        index = torch.tensor(ours, dtype=torch.long).to(logits.device, non_blocking=True)
        worst = min(1e30, torch.finfo(logits.dtype).max / 1e4)
        allowed = torch.nan_to_num(logits[where[0], where[1]].float(), nan=-worst, posinf=worst, neginf=-worst).clamp(-worst, worst)
        logits[index] = -float("inf")
        logits[where[0], where[1]] = (allowed + added).clamp(-worst, worst).to(logits.dtype)
        return logits

    def apply(self, logits: Any, ctx: Any = None) -> Any:
        if not self._slots:
            return logits
        return self._apply_v1(logits) if ctx is None else self._apply_v2(logits, ctx)

    # --- V1: rows are requests, and move

    def update_state(self, batch_update: Any) -> None:
        """Removed, then added, then moved, in this order."""
        if batch_update is None:
            return
        for slot in batch_update.removed:
            self._slots.pop(slot, None)
        for slot, params, _prompt, tokens in batch_update.added:
            self._start(slot, params, tokens)
        for one, other, direction in batch_update.moved:
            first, second = self._slots.pop(one, None), self._slots.pop(other, None)
            if first is not None:
                self._slots[other] = first
            if second is not None and getattr(direction, "name", str(direction)).upper().endswith("SWAP"):
                self._slots[one] = second

    def _apply_v1(self, logits: Any) -> Any:
        rows: List[int] = []
        asked: List[Tuple[Request, Sequence[int]]] = []
        for slot, (request, written) in sorted(self._slots.items()):
            if slot >= logits.shape[0]:
                continue
            if -1 in request.follow(written):
                raise RuntimeError("tokens are missing: name metactrl.vllm:MetactrlLogitsProcessor with --logits-processors, so that vLLM fills them in")
            rows.append(slot)
            asked.append((request, ()))
        return self._weigh(logits, rows, asked)

    # --- V2: a row says which slot it is of, and which token it was fed

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """Slots are never told that they are free: the next request takes its place."""
        return self._start(req_idx, sampling_params, [])

    def _apply_v2(self, logits: Any, ctx: Any) -> Any:
        if not any(slot in self._slots for slot in ctx.idx_mapping_np.tolist()):
            return logits  # slots are not told that they are free; this is known without waiting for the device
        layout = (ctx.expanded_idx_mapping, ctx.expanded_local_pos, ctx.pos, ctx.input_ids)
        slots, places, positions, fed = torch.stack([values.to(torch.int64) for values in layout]).tolist()
        rows: List[int] = []
        asked: List[Tuple[Request, Sequence[int]]] = []
        drafts: Dict[int, List[int]] = {}  # slot -> the drafts up to its row before: they follow each other
        for row in sorted(range(len(slots)), key=lambda row: (slots[row], places[row])):
            slot = slots[row]
            if slot not in self._slots:
                continue
            request, _ = self._slots[slot]
            prompt = int(self._states.prompt_len.np[slot])
            if positions[row] + 1 < max(prompt, int(self._states.prefill_len.np[slot])):
                continue  # a part of the prompt, or of an answer that is read again
            if slot in drafts:
                drafts[slot] = drafts[slot] + [fed[row]]
            else:
                self._go_to(request, slot, prompt, positions[row], fed[row])
                drafts[slot] = []
            rows.append(row)
            asked.append((request, drafts[slot]))
        return self._weigh(logits, rows, asked)

    def _go_to(self, request: Request, slot: int, prompt: int, position: int, fed: int) -> None:
        """To what the slot has generated up to the token that it was fed. What is known from the steps before is not read again."""
        before = max(0, position - prompt)
        known = min(len(request), before)
        request.cut(known)
        if known < before:
            request.write(self._states.all_token_ids.gpu[slot, prompt + known : position].tolist())
        if position >= prompt:
            request.write([fed])
