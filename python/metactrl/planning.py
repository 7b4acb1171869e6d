"""From a task and anything that gives logits to a plan that is checked before anybody sees it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Union

from . import display
from .arrays import favourite
from .decoding import Constraint, Decoder, Hmm, Trace
from .errors import Infeasible, InternalError
from .tasks import Action, Format, Schedule, Stop, Task, Validation
from .vocabulary import Vocabulary


@dataclass(frozen=True)
class Plan:
    """A plan that was read back from its text and judged by the reference semantics. True in a condition when it is valid; always, unless
    it was made with guidance "syntax"."""

    text: str
    actions: List[Action]
    tokens: List[int]
    valid: bool
    reason: str
    forced_tokens: int
    model_calls: int
    validation: Validation
    decoder: Decoder = field(repr=False, compare=False)
    # The model's favourite among all tokens, by the place of the token for which it was asked.
    wanted: Dict[int, int] = field(default_factory=dict, repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        return self.text

    def schedule(self, kind: str = "sequential") -> Schedule:
        """The plan in time, where the task's actions take some: see `Task.schedule`."""
        return self.decoder.constraint.task.schedule(self.actions, kind=kind)

    def explain(self) -> Trace:
        trace, place = self.decoder.explain(), 0
        for step in trace.steps:
            for token in step["tokens"]:
                if place in self.wanted:
                    favourite = self.wanted[place]
                    text = self.decoder.constraint.vocabulary.decode([favourite]).decode("utf-8", "replace")
                    token["wanted"] = {"token": favourite, "text": text}
                place += 1
        return trace

    def _repr_html_(self) -> str:
        return display.plan_html(self)


def finish(
    decoder: Decoder, *, forced_tokens: int = 0, model_calls: int = 0, guarantee: bool = True, wanted: Optional[Dict[int, int]] = None
) -> Plan:
    """The plan of a decoder that is finished, checked by nothing but its tokens."""
    tokens = decoder.tokens
    check = decoder.constraint.check(tokens)
    if guarantee and not check.valid:
        raise InternalError(f"the plan does not keep what was promised: {check.reason}")
    dropped = decoder.constraint.goals_dropped
    held = f"every goal but {', '.join(dropped)}" if dropped else "every goal"
    reason = f"every step is legal and {held} holds at the end" if check.valid else check.reason
    return Plan(
        check.text, check.actions, tokens, check.valid, reason, forced_tokens, model_calls, check.validation, decoder, wanted or {}
    )


def plan(
    task: Union[Task, Constraint],
    logits: Callable[[List[int]], Any],
    vocabulary: Optional[Vocabulary] = None,
    *,
    format: Union[str, Format] = "pddl",
    context: str = "",
    guidance: str = "uniform",
    bridge: str = "uniform",
    temperature: float = 0,
    top_p: float = 1,
    seed: int = 0,
    horizon: int = 0,
    drop_goals: bool = False,
    hmm: Optional[Hmm] = None,
    token_hmm: Optional[Hmm] = None,
    stop: Optional[Stop] = None,
) -> Plan:
    """Plans with any model: `logits(tokens)` gives the row of logits behind the prompt and these tokens of the answer, as a list, an array or
    a tensor. It is asked only where there is a choice; a model with a cache reads all tokens since its last call in one pass.

    Raises Infeasible where there is no plan, with the reason; with `drop_goals`, only where even no goal at all is too much, and
    `plan.decoder.constraint.goals_dropped` says which goals do not hold. `context` is the prompt's text. Guidance "trained" needs `hmm`, bridge "hmm"
    needs `token_hmm`. Given a Constraint instead of a task, format, vocabulary, context, horizon, drop_goals and hmm are its own."""
    if isinstance(task, Constraint):
        constraint = task
    else:
        if vocabulary is None:
            raise TypeError("plan() needs a vocabulary, or a constraint instead of the task")
        constraint = Constraint(
            task, vocabulary, format, context=context, horizon=horizon, drop_goals=drop_goals, hmm=hmm, stop=stop
        )
    if guidance != "syntax" and constraint.verdict != "solvable":
        raise Infeasible(constraint.reason, constraint.verdict)
    decoder = Decoder(constraint, guidance=guidance, bridge=bridge, token_hmm=token_hmm, stop=stop)
    tokens: List[int] = []
    wanted: Dict[int, int] = {}
    forced = calls = 0
    while not decoder.finished:
        run = decoder.forced()
        if run:
            forced += len(run)
        else:
            calls += 1
            row = logits(list(tokens))
            token = decoder.choose(row, temperature=temperature, top_p=top_p, seed=seed)
            best = favourite(row, constraint.size)
            if best is not None:
                wanted[len(tokens)] = best
            if token is None:
                raise InternalError("nothing may come although the plan is not finished")
            run = [token]
        if decoder.accept(*run) != len(run):
            raise InternalError("a token that may come was not taken")
        tokens += run
    return finish(decoder, forced_tokens=forced, model_calls=calls, guarantee=guidance != "syntax", wanted=wanted)


def explain(plan: Plan) -> Trace:
    """Plan.explain, as a function."""
    return plan.explain()
