"""Hugging Face transformers: plans from any causal language model it runs.

    from metactrl.transformers import LogitsProcessor, generate, plan

    plan(model, tokenizer, task, instruction="Tidy up the kitchen.")            # prompt, template, decoding, check

    constraint = metactrl.Constraint(task, vocabulary, context=prompt)
    model.generate(**inputs, logits_processor=[LogitsProcessor(constraint)], max_new_tokens=constraint.max_tokens)
    generate(model, inputs, constraint)                                         # forced runs in one pass: several times as fast

A row of the batch is known by the tokens that it has generated, never by its place: beams continue each other, finished rows are padded,
drafts are taken back, and the processor is told of none of it. Every step sends each decoder behind its row's tokens.
"""

from __future__ import annotations

import inspect
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import torch

from . import arguments
from .answers import Answer, send
from .arrays import int_list
from .decoding import Batch, Constraint, Decoder, Hmm
from .errors import ArgumentError, Infeasible
from .planning import Plan, finish
from .tasks import Format, Task
from .vocabulary import Vocabulary

try:
    from transformers import LogitsProcessor as _Base
except ImportError:  # the loop needs only a model with the same forward()

    class _Base:  # type: ignore[no-redef]
        pass


# Logits that are no numbers become the worst that a sampler can divide by a temperature and still compare.
_WORST = 1e30


class LogitsProcessor(_Base):  # type: ignore[misc]
    """Adds the constraint's weights to the logits and takes every token out that may not come.

    One constraint serves all rows; a list has one per prompt. `num_beams` is that of generate(): a row that is lost ends its turn, but a beam
    that is lost must not win, and gets nothing at all.

    An object serves one generate() at a time. A new call is noticed by its prompt; `reset()` says it."""

    supports_continuous_batching = False

    def __init__(
        self,
        constraint: Union[Constraint, Sequence[Constraint]],
        *,
        guidance: str = "uniform",
        bridge: str = "uniform",
        token_hmm: Optional[Hmm] = None,
        num_beams: int = 1,
        batch: Optional[Batch] = None,
    ) -> None:
        self.constraints = [constraint] if isinstance(constraint, Constraint) else list(constraint)
        if not self.constraints:
            raise ArgumentError("a processor needs a constraint")
        for one in self.constraints:
            if guidance != "syntax" and one.verdict != "solvable":
                raise Infeasible(one.reason, one.verdict)
        self.guidance, self.bridge, self.token_hmm = guidance, bridge, token_hmm
        self.num_beams = arguments.whole("num_beams", num_beams, 1, arguments.UINT32)
        self._batch = batch or Batch()
        self._ends = [one.ends for one in self.constraints]
        self.reset()

    def reset(self) -> None:
        """Forgets the call before."""
        self._width: Optional[int] = None  # of the prompt
        self._last: Any = None  # input_ids of the call before
        self._answers: List[Answer] = []
        self._rows: List[Decoder] = []
        self._before: List[List[int]] = []  # beams: the answers of the call before
        self._led = False

    # --- which tokens each row has generated

    def _read(self, input_ids: Any) -> None:
        """Copies one column where the rest is as it was."""
        if self._led:
            return
        last, width = self._last, input_ids.shape[1]
        if last is not None and width == last.shape[1] + 1 and torch.equal(input_ids[:, :-1], last):
            for answer, token in zip(self._answers, input_ids[:, -1].tolist()):
                answer.write([token])
        else:
            if last is None or not self._continues(input_ids):
                self.reset()
                self._width = width
                self._begin(input_ids.shape[0])
            for answer, tokens in zip(self._answers, input_ids[:, self._width :].tolist()):
                answer.become(tokens)
        self._last = input_ids

    def _begin(self, rows: int) -> None:
        self._answers = [Answer(self.ends_of(row, rows)) for row in range(rows)]
        self._rows = [self._decoder(self._of(row, rows)) for row in range(rows)]

    def _continues(self, input_ids: Any) -> bool:
        """Whether these are the rows of the call before, moved about or taken back, and not those of another generate()."""
        prompt, width = self._last[:, : self._width], input_ids.shape[1]
        same_shape = input_ids.shape[0] == prompt.shape[0] and self._width < width <= self._last.shape[1] + 1
        return bool(same_shape and torch.equal(input_ids[:, : self._width], prompt))

    def lead(self, rows: int) -> List[Answer]:
        """For loops that know what each row generates, and write it here. input_ids is not looked at until `leave`."""
        self.reset()
        self._led = True
        self._begin(rows)
        return self._answers

    def leave(self) -> None:
        self._led = False

    def _of(self, row: int, rows: int) -> int:
        """The number of the constraint of a row: those of one prompt lie together."""
        count = len(self.constraints)
        if count > 1 and rows % count != 0:
            raise ArgumentError(f"{rows} rows cannot be shared by {count} constraints; give one per prompt")
        return row * count // rows

    def ends_of(self, row: int, rows: int) -> "set[int]":
        """The tokens that end the turn of a row."""
        return self._ends[self._of(row, rows)]

    def turn_of(self, row: int, rows: int, tokens: List[int]) -> List[int]:
        """A row's answer: what it has generated, up to the end of its turn."""
        answer = Answer(self.ends_of(row, rows))
        answer.write(tokens)
        return tokens[: len(answer)]

    # --- a decoder for each

    def _decoder(self, number: int) -> Decoder:
        return Decoder(self.constraints[number], guidance=self.guidance, bridge=self.bridge, token_hmm=self.token_hmm)

    def _place(self) -> List[bool]:
        """Sends every decoder behind its row's answer."""
        if self.num_beams == 1:
            return send(self._batch, self._rows, self._answers)
        wanted = [answer.tokens[: len(answer)] for answer in self._answers]
        if self._before:
            self._rows = self._adopt(wanted)
        self._before = wanted
        return self._batch.seek(self._rows, wanted)

    def _adopt(self, wanted: List[List[int]]) -> List[Decoder]:
        """Beams: every row has the decoder of its parent, where there is one."""
        known: Dict[Tuple[int, Tuple[int, ...]], Decoder] = {}
        for row, tokens in enumerate(self._before):
            known.setdefault((self._of(row, len(wanted)), tuple(tokens)), self._rows[row])
        taken: "set[int]" = set()
        adopted = []
        for row, tokens in enumerate(wanted):
            parent = known.get((self._of(row, len(wanted)), tuple(tokens[:-1])), self._rows[row])
            if id(parent) in taken:
                parent = parent.clone()
            taken.add(id(parent))
            adopted.append(parent)
        return adopted

    def forced(self) -> List[List[int]]:
        """The run that has no alternative behind each row's answer."""
        fits = self._place()
        return [row.forced() if fit and not row.finished else [] for row, fit in zip(self._rows, fits)]

    @property
    def decoders(self) -> List[Decoder]:
        """Those of the rows of the last call."""
        return self._rows

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        widest = max(one.size for one in self.constraints)
        if scores.dim() != 2 or scores.shape[1] < widest:
            raise ArgumentError(f"scores should have {widest} columns or more, and are of shape {tuple(scores.shape)}")
        if not scores.dtype.is_floating_point:
            raise ArgumentError(f"scores are floating point, not {scores.dtype}")
        self._read(input_ids)
        if len(self._answers) != scores.shape[0]:
            raise ArgumentError(f"there are {len(self._answers)} rows of tokens and {scores.shape[0]} of scores")
        fits = self._place()
        listed = self._batch.next(self._rows, keep_ending=True)
        return self._weigh(scores, fits, listed)

    def _weigh(self, scores: Any, fits: List[bool], listed: List[Tuple[List[int], List[float]]]) -> Any:
        rows: List[int] = []
        columns: List[int] = []
        weights: List[float] = []
        for row, (ids, log_weights) in enumerate(listed):
            if not fits[row] or not ids:
                if self.num_beams > 1:
                    continue
                ids = sorted(self.ends_of(row, len(listed)))
                log_weights = [0.0] * len(ids)
            rows += [row] * len(ids)
            columns += ids
            weights += log_weights
        # One copy to the device, and a new tensor: generate() may keep the old one.
        worst = min(_WORST, torch.finfo(scores.dtype).max / 1e4)
        where = torch.tensor([rows, columns], dtype=torch.long).to(scores.device)
        added = torch.tensor(weights, dtype=torch.float32).to(scores.device)
        allowed = scores[where[0], where[1]].float()
        allowed = torch.nan_to_num(allowed, nan=-worst, posinf=worst, neginf=-worst).clamp(-worst, worst)
        weighed = torch.full_like(scores, -float("inf"))
        weighed[where[0], where[1]] = (allowed + added).clamp(-worst, worst).to(scores.dtype)
        return weighed


# --- forced runs in one pass


class ForcedRuns:
    """A loop for `generate(custom_generate=...)` in which the model reads a token and the run that it forces in one pass. Give the same processor
    as `logits_processor`:

        model.generate(**inputs, logits_processor=[processor], custom_generate=ForcedRuns(processor))

    Runs of different lengths are padded on the left inside a step: the attention mask hides the padding, positions go on counting behind it. With
    more than one row, models with a sliding window see a window that is shorter by that padding."""

    def __init__(self, processor: LogitsProcessor) -> None:
        self.processor = processor
        self.forward_passes = 0
        self.forced_tokens = 0
        self.tokens: List[List[int]] = []

    def __call__(
        self,
        model: Any,
        input_ids: Any,
        logits_processor: Any = None,
        stopping_criteria: Any = None,
        generation_config: Any = None,
        **model_kwargs: Any,
    ) -> Any:
        if getattr(getattr(model, "config", None), "is_encoder_decoder", False):
            raise ArgumentError("forced runs are for models without an encoder; use the LogitsProcessor alone")
        if getattr(generation_config, "num_beams", 1) not in (None, 1):
            raise ArgumentError("forced runs are for one beam; use the LogitsProcessor alone")
        if getattr(generation_config, "return_dict_in_generate", False):
            raise ArgumentError("forced runs give tokens alone; leave return_dict_in_generate out")
        try:
            return self._run(model, input_ids, logits_processor, stopping_criteria, generation_config, model_kwargs)
        finally:
            self.processor.leave()

    def _run(self, model: Any, input_ids: Any, processors: Any, criteria: Any, config: Any, kwargs: Dict[str, Any]) -> Any:
        rows, width = input_ids.shape
        device = input_ids.device
        pad = _pad_token(config)
        limit = _max_length(config, width)
        mask = kwargs.pop("attention_mask", None)
        mask = torch.ones_like(input_ids) if mask is None else mask.to(torch.long)
        cache = _cache(kwargs.pop("past_key_values", None))
        known = inspect.signature(model.forward).parameters
        # What generate() prepared for its own loops is made anew here; images and the like are handed on.
        ours = ("position_ids", "cache_position", "use_cache", "logits_to_keep", "num_logits_to_keep")
        kwargs = {name: value for name, value in kwargs.items() if name in known and name not in ours}
        keep = {name: 1 for name in ("logits_to_keep", "num_logits_to_keep") if name in known}
        whole = _Whole(input_ids, pad)
        processors = list(processors or [])
        if self.processor not in processors:
            processors.append(self.processor)
        # Rows have different lengths here: the length and the end of the turn are seen to row by row.
        criteria = [one for one in criteria or [] if type(one).__name__ not in ("MaxLengthCriteria", "EosTokenCriteria")]
        answers = self.processor.lead(rows)
        tokens = [answer.tokens for answer in answers]
        done = [False] * rows
        self.forward_passes = self.forced_tokens = 0
        self.tokens = tokens
        steps = self._take(answers, done, [[] for _ in range(rows)], limit)
        block, block_mask = input_ids, mask
        if any(steps):
            # The prompts go to the right, so that each row's run follows it.
            tail, tail_mask = _left_padded(steps, pad, device)
            block, block_mask = torch.cat([input_ids, tail], 1), torch.cat([mask, tail_mask], 1)
            mask = block_mask
        while not all(done):
            positions = (mask.cumsum(1) - 1).clamp(min=0)[:, -block.shape[1] :]
            out = model(
                input_ids=block,
                attention_mask=mask,
                position_ids=positions,
                past_key_values=cache,
                use_cache=True,
                **keep,
                **kwargs,
            )
            kwargs = {}  # read once
            self.forward_passes += 1
            cache = out.past_key_values
            scores = out.logits[:, -1, :].to(torch.float32)
            chosen = self._choose(whole, tokens, scores, processors, config)
            steps = self._take(answers, done, [[] if done[row] else [token] for row, token in enumerate(chosen)], limit)
            for one in criteria:
                # Looked at behind every run, as generate() does behind every token.
                stopped = torch.as_tensor(one(whole.of(tokens), None)).expand(rows).tolist()
                done = [was or bool(now) for was, now in zip(done, stopped)]
            block, block_mask = _left_padded(steps, pad, device)
            mask = torch.cat([mask, block_mask], 1)
        longest = max(map(len, tokens))
        answer = torch.tensor([mine + [pad] * (longest - len(mine)) for mine in tokens], dtype=input_ids.dtype)
        return torch.cat([input_ids, answer.to(device)], 1)

    def _take(self, answers: List[Answer], done: List[bool], chosen: List[List[int]], limit: int) -> List[List[int]]:
        """Adds to each row what was chosen and what that forces; returns what the model has to read."""
        for answer, new in zip(answers, chosen):
            answer.write(new)
        runs = self.processor.forced()
        steps = []
        for row, answer in enumerate(answers):
            step = list(chosen[row])
            if not done[row]:
                run = runs[row][: max(0, limit - len(answer.tokens))]
                answer.write(run)
                step += run
                self.forced_tokens += len(run)
                done[row] = len(answer.tokens) >= limit or answer.ended
            steps.append(step)
        return steps

    def _choose(self, whole: "_Whole", tokens: List[List[int]], scores: Any, processors: List[Any], config: Any) -> List[int]:
        for one in processors:
            # Ours knows the tokens already.
            scores = one(None if one is self.processor else whole.of(tokens), scores)
        if getattr(config, "do_sample", False):
            return torch.multinomial(torch.softmax(scores, -1), 1).flatten().tolist()
        return scores.argmax(-1).tolist()


class _Whole:
    """Prompts and answers as generate() would have them, all ending at the same place; made only for those who ask."""

    def __init__(self, prompt: Any, pad: int) -> None:
        self._device, self._dtype, self._pad = prompt.device, prompt.dtype, pad
        self._prompt: List[List[int]] = []
        self._given = prompt

    def of(self, tokens: List[List[int]]) -> Any:
        if not self._prompt:
            self._prompt = self._given.tolist()
        width = max(map(len, tokens))
        rows = [[self._pad] * (width - len(mine)) + before + mine for before, mine in zip(self._prompt, tokens)]
        return torch.tensor(rows, dtype=self._dtype).to(self._device)


def _left_padded(steps: List[List[int]], pad: int, device: Any) -> Tuple[Any, Any]:
    width = max(1, max(map(len, steps)))
    block = torch.tensor([[pad] * (width - len(step)) + step for step in steps], dtype=torch.long)
    mask = torch.tensor([[0] * (width - len(step)) + [1] * len(step) for step in steps], dtype=torch.long)
    return block.to(device), mask.to(device)


def _pad_token(config: Any) -> int:
    pad = getattr(config, "pad_token_id", None)
    if pad is None:
        pad = getattr(config, "eos_token_id", None)
    if isinstance(pad, (list, tuple)):
        pad = pad[0] if pad else None
    return 0 if pad is None else int(pad)


def _max_length(config: Any, width: int) -> int:
    """The most tokens of an answer."""
    new = getattr(config, "max_new_tokens", None)
    if new is not None:
        return int(new)
    length = getattr(config, "max_length", None)
    return max(1, int(length) - width) if length is not None else 1 << 30


def _cache(cache: Any) -> Any:
    """A cache that grows; one of a fixed size cannot hold padding inside."""
    if cache is None:
        return None
    if "Static" in type(cache).__name__:
        raise ArgumentError("forced runs need a cache that grows; leave cache_implementation out")
    return cache


# --- whole answers


def generate(
    model: Any,
    inputs: Any,
    constraint: Union[Constraint, Sequence[Constraint]],
    *,
    guidance: str = "uniform",
    bridge: str = "uniform",
    token_hmm: Optional[Hmm] = None,
    num_beams: int = 1,
    forced_runs: Optional[bool] = None,
    **options: Any,
) -> List[Plan]:
    """One checked plan per prompt. `inputs` are what the tokenizer gives (input_ids and attention_mask, padded on the left), `options` go to
    model.generate(). Forced runs are read in one pass, unless there are beams."""
    processor = LogitsProcessor(constraint, guidance=guidance, bridge=bridge, token_hmm=token_hmm, num_beams=num_beams)
    constraints, num_beams = processor.constraints, processor.num_beams
    if num_beams > 1 and options.get("do_sample"):
        raise ArgumentError("beams that are drawn at random take tokens that may not come; leave do_sample or num_beams out")
    forced_runs = num_beams == 1 if forced_runs is None else forced_runs
    settings = dict(options)
    settings.setdefault("max_new_tokens", max(one.max_tokens for one in constraints))
    ends = sorted(set().union(*processor._ends))
    settings.setdefault("eos_token_id", ends)
    settings.setdefault("pad_token_id", ends[0])
    loop = ForcedRuns(processor) if forced_runs else None
    if loop is not None:
        settings["custom_generate"] = loop
    elif num_beams > 1:
        settings["num_beams"] = num_beams
    given = dict(inputs) if hasattr(inputs, "keys") else {"input_ids": inputs}
    sequences = model.generate(**given, logits_processor=_processors(processor), **settings)
    width = given["input_ids"].shape[1]
    plans = []
    count = sequences.shape[0]
    for row in range(count):
        number = row * len(constraints) // count
        decoder = processor._decoder(number)
        decoder.seek(processor.turn_of(row, count, int_list(sequences[row, width:])))
        if not decoder.finished:
            raise ArgumentError(f"answer {row} was cut off: {decoder.text!r}; max_new_tokens must be {constraints[number].max_tokens}")
        forced = loop.forced_tokens if loop is not None and count == 1 else 0
        passes = loop.forward_passes if loop is not None else len(decoder.tokens)
        plans.append(finish(decoder, forced_tokens=forced, model_calls=passes, guarantee=guidance != "syntax"))
    return plans


def _processors(processor: LogitsProcessor) -> Any:
    try:
        from transformers import LogitsProcessorList
    except ImportError:
        return [processor]
    return LogitsProcessorList([processor])


def plan(
    model: Any,
    tokenizer: Any,
    task: Task,
    *,
    instruction: str = "",
    format: Union[str, Format] = "pddl",
    vocabulary: Optional[Vocabulary] = None,
    horizon: int = 0,
    guidance: str = "uniform",
    hmm: Optional[Hmm] = None,
    **options: Any,
) -> Plan:
    """A plan for a task: writes the prompt, in the model's chat template where it has one, and decodes. A vocabulary takes a second to make; make
    one and hand it over to plan many tasks."""
    vocabulary = vocabulary or Vocabulary.from_tokenizer(tokenizer, model=model)
    text = task.prompt(format, instruction)
    if getattr(tokenizer, "chat_template", None):
        text = tokenizer.apply_chat_template([{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True)
        inputs = tokenizer(text, return_tensors="pt", add_special_tokens=False)
    else:
        inputs = tokenizer(text, return_tensors="pt")
    constraint = Constraint(task, vocabulary, format, context=text, horizon=horizon, hmm=hmm)
    given = {name: inputs[name].to(model.device) for name in ("input_ids", "attention_mask") if name in inputs}
    return generate(model, given, constraint, guidance=guidance, **options)[0]
