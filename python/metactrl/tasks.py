"""Tasks, how plans are written, and what plans are worth."""

from __future__ import annotations

import ctypes as c
import os
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Union

from . import _library, display
from .arguments import UINT32, real, set_all, whole
from .errors import ArgumentError, Diagnostic, diagnostics_of


@dataclass(frozen=True)
class Action:
    """One step of a plan: `(putin cup dishwasher)`."""

    action: str
    arguments: "tuple[str, ...]" = ()

    def __str__(self) -> str:
        return "(" + " ".join((self.action, *self.arguments)) + ")"


def actions_of(items: List[Dict[str, Any]]) -> List[Action]:
    return [Action(item["action"], tuple(item["arguments"])) for item in items]


@dataclass(frozen=True)
class Preference:
    """What a plan is wanted to satisfy, what it adds to the metric where it does not, and whether the plan does."""

    name: str
    text: str
    weight: float
    satisfied: bool


@dataclass(frozen=True)
class Validation:
    """What a plan is worth by the reference semantics. True in a condition when the plan is valid."""

    valid: bool
    reason: str
    problem: str
    steps_executed: int
    cost: float
    unmet_goals: List[str] = field(default_factory=list)
    actions: List[Action] = field(default_factory=list)
    makespan: Optional[float] = None  # when a plan ends that was judged with its times
    preferences: List[Preference] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.valid

    def _repr_html_(self) -> str:
        return display.validation_html(self)


def validation_of(answer: Dict[str, Any]) -> Validation:
    wishes = [Preference(**item) for item in answer["preferences"]]
    values: Dict[str, Any] = {**answer, "actions": actions_of(answer["actions"]), "preferences": wishes}
    return Validation(**values)


@dataclass(frozen=True)
class TimedAction:
    """When a step of a plan begins and how long it takes, in the units of its task."""

    start: float
    duration: float
    action: Action

    @property
    def end(self) -> float:
        return self.start + self.duration


@dataclass(frozen=True)
class Schedule:
    """A plan in time, judged by the reference semantics. As a text: lines `0.000: (drive truck a b) [5.000]`, as validators and PlanSys2 read them."""

    text: str
    makespan: float
    metric: Optional[float]  # what the task's metric is with these times, where it counts time
    steps: List[TimedAction]  # by start
    overlaps: List["tuple[int, int]"]  # pairs of places in `steps` that run at the same time

    def __str__(self) -> str:
        return self.text

    def __len__(self) -> int:
        return len(self.steps)

    def _repr_html_(self) -> str:
        return display.schedule_html(self)


SCHEDULES = {"sequential": 0, "concurrent": 1}


@dataclass(frozen=True)
class Found:
    """What a search ended with. `verdict`: "solvable", "infeasible" (proved) or "undecided" within the budget; then `reason` says why."""

    verdict: str
    reason: str
    actions: Optional[List[Action]]
    # Of a task with preferences: which the plan satisfies, what it is worth by the metric, what every plan is worth at least.
    preferences: List[Preference] = field(default_factory=list)
    metric: Optional[float] = None
    metric_lower_bound: Optional[float] = None
    # What the plan is worth: "actions", "shortest", "cost", "cheapest", and what every plan costs at least.
    best_plan: Optional[Dict[str, Any]] = None
    # Where it is infeasible: why, in the words of the domain, and single changes with which there would be a plan.
    why_infeasible: List[str] = field(default_factory=list)
    would_help: List[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return self.actions is not None


class Stop(_library.Owner):
    """Ends what takes long, from any thread: `stop.request()`, or after some seconds."""

    _kind = "stop"

    def __init__(self, seconds: Optional[float] = None) -> None:
        super().__init__(_library.make("stop_new"))
        if seconds is not None:
            self.after(seconds)

    def request(self) -> None:
        _library.library.metactrl_stop_request(self._handle)

    def after(self, seconds: float) -> None:
        _library.call("stop_after", self._handle, real("seconds", seconds))

    @property
    def requested(self) -> bool:
        return bool(_library.library.metactrl_stop_requested(self._handle))


class Format(_library.Owner):
    """How plans are written: the name of one that ships ("pddl", "json", "sentences", ...), or `Format.parse(declaration)`."""

    _kind = "format"

    def __init__(self, name: str = "pddl") -> None:
        super().__init__(_library.make("format_builtin", name.encode()))
        self.name = name

    @classmethod
    def parse(cls, declaration: str, name: str = "format") -> "Format":
        made = cls.__new__(cls)
        text = declaration.encode()
        _library.Owner.__init__(made, _library.make("format_parse", text, len(text)))
        made.name = name
        return made

    @staticmethod
    def of(given: "Union[str, Format]") -> "Format":
        return given if isinstance(given, Format) else Format(given)


def _options(limits: Dict[str, int]) -> Any:
    options = _library.defaults("task", _library.TaskOptions)
    set_all(options, "limit", limits, ("max_ground_actions", "max_ground_facts", "max_work"))
    return c.byref(options)


class Task(_library.Owner):
    """A planning task: `Task.load("domain.pddl", "problem.pddl")`, or from the two texts. Raises InputError with every mistake.

    Limits: max_ground_actions, max_ground_facts, max_work."""

    _kind = "task"

    def __init__(self, domain: str, problem: str, *, stop: Optional[Stop] = None, **limits: int) -> None:
        texts = domain.encode(), problem.encode()
        super().__init__(
            _library.make(
                "task_parse", texts[0], len(texts[0]), texts[1], len(texts[1]), _options(limits), _library.handle_of(stop)
            )
        )
        self._read_info()

    @classmethod
    def load(
        cls,
        domain: "Union[str, os.PathLike[str]]",
        problem: "Union[str, os.PathLike[str]]",
        *,
        stop: Optional[Stop] = None,
        **limits: int,
    ) -> "Task":
        made = cls.__new__(cls)
        handle = _library.make(
            "task_load", os.fsencode(domain), os.fsencode(problem), _options(limits), _library.handle_of(stop)
        )
        _library.Owner.__init__(made, handle)
        made._read_info()
        return made

    def _read_info(self) -> None:
        info = _library.read_json("task_info", self._handle)
        self.name: str = info["name"]
        self.objects: List[str] = info["objects"]
        self.arity: Dict[str, int] = {item["name"]: item["arity"] for item in info["action_names"]}
        self.num_actions: int = info["num_actions"]
        self.has_durations: bool = info["has_durations"]
        self.initial: List[str] = info["initial"]
        self.goals: List[str] = info["goals"]
        self.warnings: List[Diagnostic] = diagnostics_of(info["warnings"])

    def _plan(self, plan: Any, format: "Union[str, Format, None]") -> "tuple[Optional[Format], bytes]":
        """A plan as the library reads it, and the format that its handle belongs to."""
        if isinstance(plan, (str, Schedule)):
            text = str(plan)
        else:
            text = "".join(f"{action}\n" for action in getattr(plan, "actions", plan))
        if not isinstance(plan, str) and format is not None:
            raise ArgumentError("a format says how a text is read; actions need none")
        return None if format is None else Format.of(format), text.encode()

    def validate(self, plan: Any, format: "Union[str, Format, None]" = None, *, stop: Optional[Stop] = None) -> Validation:
        """Judges a plan: a text (PDDL lines, or in the given format), actions, or a schedule. Lines with time stamps are judged by them where
        actions take time."""
        chosen, data = self._plan(plan, format)
        return validation_of(
            _library.read_json(
                "task_validate", self._handle, _library.handle_of(chosen), data, len(data), _library.handle_of(stop)
            )
        )

    def schedule(
        self, plan: Any, format: "Union[str, Format, None]" = None, *, kind: str = "sequential", stop: Optional[Stop] = None
    ) -> Schedule:
        """When each action of a plan begins and how long it takes, where actions take time (`has_durations`): one after the other, or, "concurrent",
        each as early as the plan's order allows. The plan as for `validate`; raises InputError where a step of it is not legal."""
        if kind not in SCHEDULES:
            raise ArgumentError(f"kind is {kind!r}, and has to be one of {', '.join(SCHEDULES)}")
        chosen, data = self._plan(plan, format)
        made = _library.read_json(
            "task_schedule", self._handle, _library.handle_of(chosen), data, len(data), SCHEDULES[kind], _library.handle_of(stop)
        )
        steps = [TimedAction(item["start"], item["duration"], *actions_of([item])) for item in made["steps"]]
        return Schedule(made["text"], made["makespan"], made["metric"], steps, [(a, b) for a, b in made["overlaps"]])

    def find(self, horizon: int = 0, *, stop: Optional[Stop] = None) -> Found:
        """A plan without a model, or why there is none. Where the task has preferences, the best that is found by its metric."""
        found = _library.read_json("task_search", self._handle, whole("horizon", horizon, 0, UINT32), _library.handle_of(stop))
        actions = found["actions"]
        wishes = [Preference(**item) for item in found.get("preferences", [])]
        metric = found.get("metric") or {}
        return Found(
            found["verdict"],
            found["reason"],
            None if actions is None else actions_of(actions),
            wishes,
            metric.get("value"),
            metric.get("lower_bound"),
            found["best_plan"],
            found["why_infeasible"],
            found["would_help"],
        )

    def search(self, horizon: int = 0, *, stop: Optional[Stop] = None) -> "Optional[List[Action]]":
        """The plan that `find` finds; None when it is proved that there is none, or nobody knows within the budget."""
        return self.find(horizon, stop=stop).actions

    def prompt(self, format: "Union[str, Format]" = "pddl", instruction: str = "") -> str:
        """The task in words, and how a plan is written: what a model that knows nothing of PDDL needs to see."""
        data = instruction.encode()
        chosen = Format.of(format)  # lives until the call is over
        return _library.text("task_prompt", self._handle, chosen._handle, data, len(data)).decode()

    def __repr__(self) -> str:
        return f"<Task {self.name}: {self.num_actions} actions, {len(self.objects)} objects, {len(self.goals)} goals>"

    def _repr_html_(self) -> str:
        return display.task_html(self)


def validate(task: Task, plan: Any, format: "Union[str, Format, None]" = None) -> Validation:
    """Task.validate, as a function."""
    return task.validate(plan, format)
