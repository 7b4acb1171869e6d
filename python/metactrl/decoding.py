"""Constraints, decoders and batches of them."""

from __future__ import annotations

import ctypes as c
import os
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from . import _library, display
from .arguments import real, set_all, whole
from .arrays import Memory, gather, id_array, int_list, length_of, memory_of
from .errors import ArgumentError, make_error
from .tasks import Action, Format, Stop, Task, Validation, actions_of, validation_of
from .vocabulary import Vocabulary, with_cause

_GUIDANCE = {"syntax": 1, "mask": 2, "uniform": 3, "trained": 4}
_BRIDGE = {"uniform": 0, "surrogate": 1, "hmm": 2}
_TOKENIZATION = {"canonical": 0, "any": 1}
_VERDICT = {0: "solvable", 1: "infeasible", 2: "undecided"}
_CONSTRAINT_BUDGETS = ("exact_states", "exact_bytes", "search_states", "search_bytes", "search_work", "improve")
_DECODER_BUDGETS = ("candidate_states", "candidate_bytes", "candidate_work")
_MOST_ACTIONS = 1_000_000
_MOST_THREADS = 1024
_FINISHED, _AT_BOUNDARY, _LOST = 1, 2, 4
_KEEP_ENDING = 1


def _named(kind: str, names: Dict[str, int], name: str) -> int:
    if name not in names:
        raise ArgumentError(f"there is no {kind} {name!r}; known: {', '.join(names)}")
    return names[name]


@dataclass(frozen=True)
class Check:
    """The last check of an answer, by nothing but its tokens. True in a condition when it is valid."""

    valid: bool
    reason: str
    text: str
    actions: List[Action]
    complete: bool
    canonical: bool
    ended: bool
    validation: Validation

    def __bool__(self) -> bool:
        return self.valid


class Hmm(_library.Owner):
    """A hidden Markov model that `metactrl train` or `metactrl hmm` wrote: of plans (level "meta"), for a Constraint and guidance "trained"; or of
    tokens (level "token"), for a Decoder with bridge "hmm" or guidance "syntax". It ranks what is allowed, and allows nothing. May be used by many
    threads; the file is mapped, so it must stay as it is."""

    _kind = "hmm"

    def __init__(self, file: Union[str, "os.PathLike[str]"]) -> None:
        super().__init__(_library.make("hmm_load", os.fsencode(file)))
        self.info: Dict[str, Any] = _library.read_json("hmm_info", self._handle)

    @property
    def level(self) -> str:
        return self.info["level"]

    def __repr__(self) -> str:
        return f"<Hmm of {'plans' if self.level == 'meta' else 'tokens'}, {self.info['hidden']} hidden states>"


def _model(hmm: Optional[Hmm]) -> Optional[int]:
    if hmm is not None and not isinstance(hmm, Hmm):
        raise TypeError(f"a hidden Markov model is a metactrl.Hmm, not {type(hmm).__name__}")
    return None if hmm is None else hmm._handle.value


class Constraint(_library.Owner):
    """A task, how its plans are written, and a vocabulary, compiled. May be used by many threads and for many answers.

    `context` is the end of the prompt's text: the plan's first token is the one the tokenizer would choose there. A plan
    has at most `horizon` actions, or what the best plan known needs; 0: what that needs, and `slack` more (None: a quarter, at least 2).
    With `costs` a decoder may prefer cheap plans. With `hmm`, a model of plans, its decoders have guidance "trained" (or "mask", or "syntax").
    With `drop_goals`, where not all goals can be reached together, it holds to as many as is certain; `goals_dropped` are the others.
    `budgets` are
    those of metactrl_constraint_options in metactrl/c.h: exact_states, exact_bytes, search_states, search_bytes, search_work, improve.
    """

    _kind = "constraint"

    def __init__(
        self,
        task: Task,
        vocabulary: Vocabulary,
        format: Union[str, Format] = "pddl",
        *,
        context: str = "",
        horizon: int = 0,
        fixed_horizon: bool = False,
        slack: Optional[int] = None,
        costs: bool = False,
        drop_goals: bool = False,
        tokenization: str = "canonical",
        weights: bool = True,
        hmm: Optional[Hmm] = None,
        stop: Optional[Stop] = None,
        **budgets: int,
    ) -> None:
        options = _library.defaults("constraint", _library.ConstraintOptions)
        options.hmm = _model(hmm)
        before = context.encode()
        options.context, options.context_size = before, len(before)
        options.tokenization = _named("tokenization", _TOKENIZATION, tokenization)
        options.horizon = whole("horizon", horizon, 0, _MOST_ACTIONS)
        options.slack = -1 if slack is None else whole("slack", slack, 0, _MOST_ACTIONS)
        options.fixed_horizon, options.weights, options.costs = bool(fixed_horizon), bool(weights), bool(costs)
        options.drop_goals = bool(drop_goals)
        set_all(options, "budget", budgets, _CONSTRAINT_BUDGETS)
        self.task, self.vocabulary, self.format = task, vocabulary, Format.of(format)
        super().__init__(
            with_cause(
                lambda: _library.make(
                    "constraint_compile",
                    task._handle,
                    self.format._handle,
                    vocabulary._handle,
                    c.byref(options),
                    _library.handle_of(stop),
                )
            )
        )
        self.size = vocabulary.size
        self.ends = set(vocabulary.end_of_turn)

    @property
    def verdict(self) -> str:
        """"solvable", "infeasible" or "undecided": said before anything is decoded."""
        return _VERDICT[_library.library.metactrl_constraint_verdict(self._handle)]

    @property
    def info(self) -> Dict[str, Any]:
        """How the lookahead works out: verdict, reason, tier, horizon, weights, states, memory, the best plan known and what it is worth."""
        return _library.read_json("constraint_info", self._handle)

    @property
    def goals_dropped(self) -> List[str]:
        return self.info["goals_dropped"]

    @property
    def reason(self) -> str:
        return self.info["reason"]

    @property
    def max_tokens(self) -> int:
        """No answer takes more tokens, the end of the turn included: what `max_new_tokens` must be."""
        return int(_library.library.metactrl_constraint_max_tokens(self._handle))

    def check(self, tokens: Iterable[int], *, stop: Optional[Stop] = None) -> Check:
        ids, count = id_array(tokens)
        answer = with_cause(
            lambda: _library.read_json("constraint_check", self._handle, ids, count, _library.handle_of(stop))
        )
        values: Dict[str, Any] = {**answer, "actions": actions_of(answer["actions"]), "validation": validation_of(answer["validation"])}
        return Check(**values)

    def __repr__(self) -> str:
        return f"<Constraint {self.task.name}, {self.format.name}: {self.verdict}>"


class Trace:
    """Every step so far and the one that comes: what was legal, what was allowed and why not, what was chosen. Of a plan that a model wrote, tokens for which it was
    asked have `wanted`, its favourite among all tokens."""

    def __init__(self, steps: List[Dict[str, Any]], constraint: Constraint, actions: List[Action]) -> None:
        self.steps = steps
        self._constraint, self._actions = constraint, actions

    @property
    def open_goals(self) -> List[List[str]]:
        """The goals that do not hold before each step, and behind the last."""
        before = range(len(self._actions) + 1)
        return [self._constraint.task.validate(self._actions[:number]).unmet_goals for number in before]

    @property
    def goals_dropped(self) -> List[str]:
        return self._constraint.goals_dropped

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        lines = []
        for number, step in enumerate(self.steps, 1):
            lines.append(f"{number}. {step['chosen'] or '(nothing yet)'}")
            for judged in step["legal"]:
                lines.append(f"     {judged['action']}: {judged['standing']} {judged.get('reason', '')}".rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return display.trace_html(self)


class Decoder(_library.Owner):
    """What may come next. One per answer, for one thread at a time.

    Guidance "uniform" weighs what keeps more of the future higher, "trained" what the constraint's model of plans thinks likelier, "mask" allows
    the same tokens and weighs them alike, "syntax" holds to the form only. With `bridge` "hmm" the tokens within an action are weighed by
    `token_hmm`, a model of tokens. Actions that change nothing are offered with `idle_steps`; without `detours` the plan comes back to no state that it has
    passed; `per_action` and `per_cost` (with a constraint made with `costs`) say by how much log-weights fall for each action, or unit of
    cost, that the best plan known behind a token has more than the best one there is. `budgets`: candidate_states, candidate_bytes, candidate_work."""

    _kind = "decoder"

    def __init__(
        self,
        constraint: Constraint,
        *,
        guidance: str = "uniform",
        bridge: str = "uniform",
        horizon: int = 0,
        forbid_empty: bool = False,
        idle_steps: bool = False,
        detours: bool = True,
        per_action: float = 0,
        per_cost: float = 0,
        token_hmm: Optional[Hmm] = None,
        stop: Optional[Stop] = None,
        **budgets: int,
    ) -> None:
        options = _library.defaults("decoder", _library.DecoderOptions)
        options.token_hmm = _model(token_hmm)
        options.guidance = _named("guidance", _GUIDANCE, guidance)
        options.bridge = _named("bridge", _BRIDGE, bridge)
        options.horizon, options.forbid_empty = whole("horizon", horizon, 0, _MOST_ACTIONS), bool(forbid_empty)
        options.idle_steps, options.no_detours = bool(idle_steps), not detours
        options.per_action, options.per_cost = real("per_action", per_action), real("per_cost", per_cost)
        set_all(options, "budget", budgets, _DECODER_BUDGETS)
        super().__init__(
            _library.make("decoder_new", constraint._handle, c.byref(options), _library.handle_of(stop))
        )
        self._set_up(constraint)

    def _set_up(self, constraint: Constraint) -> None:
        self.constraint = constraint
        self._ids = (c.c_int32 * 256)()
        self._weights = (c.c_float * 256)()

    def clone(self) -> "Decoder":
        """A fork: both go on from here, independently."""
        made = Decoder.__new__(Decoder)
        _library.Owner.__init__(made, _library.make("decoder_clone", self._handle))
        made._set_up(self.constraint)
        return made

    # --- what may come

    def next(self) -> Tuple[List[int], List[float]]:
        """The tokens that may come next, ascending, and their log weights, which are added to logits."""
        count = c.c_size_t()
        while True:
            _library.call("decoder_next", self._handle, self._ids, self._weights, len(self._ids), c.byref(count))
            if count.value <= len(self._ids):
                return list(self._ids[: count.value]), list(self._weights[: count.value])
            self._ids, self._weights = (c.c_int32 * count.value)(), (c.c_float * count.value)()

    def forced(self) -> List[int]:
        """The longest run of tokens without an alternative."""
        count = c.c_size_t()
        while True:
            _library.call("decoder_forced", self._handle, self._ids, len(self._ids), c.byref(count))
            if count.value <= len(self._ids):
                return list(self._ids[: count.value])
            self._ids, self._weights = (c.c_int32 * count.value)(), (c.c_float * count.value)()

    def fill_bitmask(self, words: Any) -> None:
        """One bit per token into an array of int32: bit t % 32 of word t // 32."""
        memory = memory_of(words, "int32", writable=True)
        _library.call("decoder_fill_bitmask", self._handle, memory.address, memory.size)

    def fill_bias(self, row: Any) -> None:
        """Log weights, minus infinity elsewhere, into an array of float32: to be added to logits."""
        memory = memory_of(row, "float32", writable=True)
        _library.call("decoder_fill_bias", self._handle, memory.address, memory.size)

    def choose(self, logits: Any, *, temperature: float = 0, top_p: float = 1, seed: int = 0) -> Optional[int]:
        """The token to take, given a row of logits: a list, an array or a tensor of any device. Whatever they are, NaN included, the
        token is one that is allowed. None where nothing may come."""
        heat, part, draw = real("temperature", temperature), real("top_p", top_p), whole("seed", seed)
        size = length_of(logits)
        if size < self.constraint.size:
            raise ArgumentError(f"there are {self.constraint.size} tokens, and {size} logits")
        ids, _ = self.next()
        values = gather(logits, ids)
        token = c.c_int32()
        _library.call(
            "decoder_choose_next",
            self._handle,
            (c.c_float * len(values))(*values),
            len(values),
            heat,
            part,
            draw,
            c.byref(token),
        )
        return None if token.value < 0 else token.value

    # --- moving

    def _move(self, name: str, tokens: Iterable[int]) -> int:
        ids, count = id_array(tokens)
        taken = c.c_size_t()
        _library.call(name, self._handle, ids, count, c.byref(taken))
        return taken.value

    def accept(self, *tokens: int) -> int:
        """Takes tokens as far as they are allowed, and says how many."""
        return self._move("decoder_accept", tokens)

    def would_accept(self, tokens: Iterable[int]) -> int:
        """How many would be taken; nothing changes."""
        return self._move("decoder_validate", tokens)

    def seek(self, tokens: Iterable[int]) -> bool:
        """Be exactly behind these tokens, wherever it was. False, and lost, when they are not allowed."""
        ids, count = id_array(tokens)
        taken = c.c_size_t()
        _library.call("decoder_seek", self._handle, ids, count, c.byref(taken))
        return taken.value == count

    def rollback(self, tokens: int) -> None:
        _library.call("decoder_rollback", self._handle, whole("tokens", tokens))

    def reset(self) -> None:
        """Back to the beginning. It is as new, and serves another request without a trace of this one."""
        _library.call("decoder_rollback", self._handle, c.c_size_t(-1).value)

    # --- where it is

    def _has(self, bit: int) -> bool:
        return bool(_library.library.metactrl_decoder_status(self._handle) & bit)

    @property
    def finished(self) -> bool:
        return self._has(_FINISHED)

    @property
    def at_boundary(self) -> bool:
        """Right where an action begins, or the plan ends."""
        return self._has(_AT_BOUNDARY)

    @property
    def lost(self) -> bool:
        """It was sent where no plan can be; nothing may come until it is somewhere else."""
        return self._has(_LOST)

    @property
    def tokens(self) -> List[int]:
        count = c.c_size_t()
        _library.call("decoder_tokens", self._handle, None, 0, c.byref(count))
        ids = (c.c_int32 * count.value)()
        _library.call("decoder_tokens", self._handle, ids, count.value, c.byref(count))
        return list(ids)

    @property
    def state(self) -> Dict[str, Any]:
        """finished, lost, text, actions, tokens, left, goal_holds."""
        answer = _library.read_json("decoder_plan", self._handle)
        return {**answer, "actions": actions_of(answer["actions"])}

    @property
    def text(self) -> str:
        return self.state["text"]

    @property
    def actions(self) -> List[Action]:
        return self.state["actions"]

    def explain(self) -> Trace:
        return Trace(_library.read_json("decoder_explain", self._handle)["steps"], self.constraint, self.actions)

    def why(self, action: Union[str, Action]) -> Dict[str, Any]:
        """Why an action may not come next: action, allowed, standing, reason."""
        data = str(action).encode()
        return _library.read_json("decoder_why", self._handle, data, len(data))

    def __repr__(self) -> str:
        state = self.state
        where = "finished" if state["finished"] else "lost" if state["lost"] else f"{len(state['tokens'])} tokens"
        return f"<Decoder {self.constraint.task.name}: {where}>"


class Batch(_library.Owner):
    """Many decoders in one call, on several threads. A row whose decoder is None is left alone; one that fails fails alone, and then its
    exception is in `errors`, by row.

    With `keep_ending`, a finished row lists the end-of-turn tokens: for engines that keep sampling rows that have ended."""

    _kind = "pool"

    def __init__(self, threads: int = 0) -> None:
        super().__init__(_library.make("pool_new", whole("threads", threads, 0, _MOST_THREADS)))
        self.errors: Dict[int, Exception] = {}

    def _rows(self, decoders: Sequence[Optional[Decoder]], tokens: Optional[Sequence[int]]) -> Tuple[Any, Any, Any]:
        rows = (c.c_void_p * len(decoders))(*(None if row is None else row._handle.value for row in decoders))
        given = None
        if tokens is not None:
            given, count = id_array(tokens)
            if count != len(decoders):
                raise ArgumentError(f"there are {len(decoders)} rows, and {count} tokens")
        return rows, given, (c.c_int32 * len(decoders))()

    def _read(self, counts: Any) -> List[int]:
        self.errors = {row: make_error(-count, f"row {row} failed") for row, count in enumerate(counts) if count < 0}
        return [max(0, count) for count in counts]

    def next(
        self, decoders: Sequence[Optional[Decoder]], tokens: Optional[Sequence[int]] = None, *, keep_ending: bool = False
    ) -> List[Tuple[List[int], List[float]]]:
        """Takes a token per row (negative: none), and lists what may follow with log weights."""
        rows, given, counts = self._rows(decoders, tokens)
        capacity = 256
        while True:
            ids, weights = (c.c_int32 * (len(rows) * capacity))(), (c.c_float * (len(rows) * capacity))()
            _library.call(
                "batch_next", self._handle, rows, len(rows), given, int(keep_ending), ids, weights, capacity, counts
            )
            sizes = self._read(counts)
            given = None
            if max(sizes, default=0) <= capacity:
                break
            capacity = max(sizes)
        places = [(row * capacity, row * capacity + size) for row, size in enumerate(sizes)]
        return [(list(ids[begin:end]), list(weights[begin:end])) for begin, end in places]

    def _fill(self, name: str, dtype: str, decoders: Any, array: Any, tokens: Any, keep_ending: bool) -> List[int]:
        rows, given, counts = self._rows(decoders, tokens)
        memory: Memory = memory_of(array, dtype, writable=True)
        if len(memory.shape) != 2 or memory.shape[0] != len(rows):
            raise ArgumentError(f"{len(rows)} rows need an array of two dimensions, the first {len(rows)}, not {memory.shape}")
        _library.call(
            name, self._handle, rows, len(rows), given, int(keep_ending), memory.address, memory.shape[1], counts
        )
        return self._read(counts)

    def fill_bitmask(
        self,
        decoders: Sequence[Optional[Decoder]],
        words: Any,
        tokens: Optional[Sequence[int]] = None,
        *,
        keep_ending: bool = False,
    ) -> List[int]:
        """One row of packed bits for each; returns how many tokens each allows."""
        return self._fill("batch_fill_bitmask", "int32", decoders, words, tokens, keep_ending)

    def fill_bias(
        self,
        decoders: Sequence[Optional[Decoder]],
        rows: Any,
        tokens: Optional[Sequence[int]] = None,
        *,
        keep_ending: bool = False,
    ) -> List[int]:
        """One row of log weights for each; returns how many tokens each allows."""
        return self._fill("batch_fill_bias", "float32", decoders, rows, tokens, keep_ending)

    def _laid_out(self, decoders: Sequence[Optional[Decoder]], sequences: Sequence[Sequence[int]]) -> Tuple[Any, Any, Any]:
        """Rows, all their tokens one behind the other, and where each begins."""
        if len(sequences) != len(decoders):
            raise ArgumentError(f"there are {len(decoders)} rows, and {len(sequences)} sequences")
        rows, _, _ = self._rows(decoders, None)
        offsets = (c.c_uint64 * (len(rows) + 1))()
        everything: List[int] = []
        for row, sequence in enumerate(sequences):
            everything.extend(sequence)
            offsets[row + 1] = len(everything)
        return rows, id_array(everything)[0], offsets

    def seek(self, decoders: Sequence[Optional[Decoder]], sequences: Sequence[Sequence[int]]) -> List[bool]:
        """Every decoder behind its tokens; False where they are not allowed."""
        rows, ids, offsets = self._laid_out(decoders, sequences)
        taken = (c.c_int64 * len(rows))()
        _library.call("batch_seek", self._handle, rows, len(rows), ids, offsets, taken)
        self._read(taken)
        return [decoders[row] is None or taken[row] == len(sequences[row]) for row in range(len(rows))]

    def move(self, decoders: Sequence[Optional[Decoder]], moves: Sequence[Tuple[int, Sequence[int]]]) -> List[int]:
        """The same for who remembers where the rows were: each keeps so many of its tokens and takes these behind them. How many tokens each is
        behind then; it is lost where that is not all of them."""
        kept = int_list([number for number, _ in moves])
        if min(kept, default=0) < 0:
            raise ArgumentError(f"a row cannot keep {min(kept)} tokens")
        keep = (c.c_uint64 * len(kept))(*kept)
        rows, ids, offsets = self._laid_out(decoders, [tokens for _, tokens in moves])
        reached = (c.c_int64 * len(rows))()
        _library.call("batch_move", self._handle, rows, len(rows), keep, ids, offsets, reached)
        return self._read(reached)
