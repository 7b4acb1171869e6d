"""An engine for the Unified Planning framework: one-shot planning and plan validation for those who model in Python.

    from unified_planning.shortcuts import OneshotPlanner, PlanValidator, get_environment
    import metactrl.unified_planning

    metactrl.unified_planning.register()                # in the environment at hand; or get_environment().factory.add_engine(...)
    with OneshotPlanner(name="metactrl") as planner:
        print(planner.solve(problem).plan)

Without more the plan is searched for. With `params={"logits": ..., "vocabulary": ...}` a language model writes it, held to the problem:
they are what `metactrl.plan` takes, and so is every other parameter. The problem travels as PDDL, as the framework's own writer writes it."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, Iterator, List, Optional

from unified_planning.engines import (
    Engine,
    LogLevel,
    LogMessage,
    PlanGenerationResult,
    PlanGenerationResultStatus,
    ValidationResult,
    ValidationResultStatus,
)
from unified_planning.engines.mixins import OneshotPlannerMixin, PlanValidatorMixin
from unified_planning.engines.mixins.oneshot_planner import OptimalityGuarantee
from unified_planning.engines.results import FailedValidationReason
from unified_planning.environment import get_environment
from unified_planning.io import PDDLWriter
from unified_planning.model import ProblemKind
from unified_planning.plans import ActionInstance, PlanKind, SequentialPlan

from .errors import Infeasible, InputError, LimitError, MetactrlError, OutOfMemory, Stopped
from .planning import plan as write_plan
from .tasks import Action, Stop, Task

# A metric is read and kept to in what is reported; plans are good, not optimal.
FEATURES = (
    "ACTION_BASED",
    "FLAT_TYPING",
    "HIERARCHICAL_TYPING",
    "NEGATIVE_CONDITIONS",
    "DISJUNCTIVE_CONDITIONS",
    "EQUALITIES",
    "EXISTENTIAL_CONDITIONS",
    "UNIVERSAL_CONDITIONS",
    "CONDITIONAL_EFFECTS",
    "FORALL_EFFECTS",
    "INT_FLUENTS",
    "REAL_FLUENTS",
    "SIMPLE_NUMERIC_PLANNING",
    "GENERAL_NUMERIC_PLANNING",
    "INCREASE_EFFECTS",
    "DECREASE_EFFECTS",
    "STATIC_FLUENTS_IN_NUMERIC_ASSIGNMENTS",
    "FLUENTS_IN_NUMERIC_ASSIGNMENTS",
    "ACTIONS_COST",
    "STATIC_FLUENTS_IN_ACTIONS_COST",
    "INT_NUMBERS_IN_ACTIONS_COST",
    "REAL_NUMBERS_IN_ACTIONS_COST",
    "PLAN_LENGTH",
    "TRAJECTORY_CONSTRAINTS",
)


class MetactrlEngine(Engine, OneshotPlannerMixin, PlanValidatorMixin):  # type: ignore[misc]
    """`logits` and what else `metactrl.plan` takes: a model writes the plan. Without: it is searched for."""

    def __init__(self, logits: Optional[Callable[[List[int]], Any]] = None, **options: Any) -> None:
        Engine.__init__(self)
        OneshotPlannerMixin.__init__(self)
        PlanValidatorMixin.__init__(self)
        if options and logits is None:
            raise TypeError(f"without logits nothing is written that could have {', '.join(sorted(options))}")
        self._logits = logits
        self._options: Dict[str, Any] = options

    @property
    def name(self) -> str:
        return "metactrl"

    @staticmethod
    def supported_kind() -> ProblemKind:
        return ProblemKind(FEATURES, version=2)

    @staticmethod
    def supports(problem_kind: ProblemKind) -> bool:
        return problem_kind <= MetactrlEngine.supported_kind()

    @staticmethod
    def supports_plan(plan_kind: PlanKind) -> bool:
        return plan_kind == PlanKind.SEQUENTIAL_PLAN

    @staticmethod
    def satisfies(optimality_guarantee: OptimalityGuarantee) -> bool:
        return optimality_guarantee == OptimalityGuarantee.SATISFICING

    def _solve(self, problem: Any, heuristic: Any = None, timeout: Optional[float] = None, output_stream: Any = None) -> PlanGenerationResult:
        return self._solve_with_params(problem, heuristic, timeout, output_stream)

    def _solve_with_params(
        self,
        problem: Any,
        heuristic: Any = None,
        timeout: Optional[float] = None,
        output_stream: Any = None,
        warm_start_plan: Any = None,
        **kwargs: Any,
    ) -> PlanGenerationResult:
        notes: List[str] = []
        if heuristic is not None:
            notes.append("the heuristic is not used")
        if warm_start_plan is not None:
            notes.append("the plan to start from is not used")
        notes += [f"{name} is not known" for name in kwargs]
        logs = [LogMessage(LogLevel.WARNING, note) for note in notes]
        plan: Optional[SequentialPlan] = None
        try:
            writer, domain, text = _written(problem)
            status, actions, reason = self._find(domain, text, None if timeout is None else Stop(timeout))
            if actions is not None:
                with _framework(PlanGenerationResultStatus.INTERNAL_ERROR, "the plan cannot be read back"):
                    plan = SequentialPlan([_instance(problem, writer, action) for action in actions], problem.environment)
        except MetactrlError as error:
            status, reason = _failure(error), str(error)
        except _FrameworkError as error:
            status, reason = error.status, str(error)
        if reason:
            level = LogLevel.INFO if plan is not None else LogLevel.ERROR
            logs.append(LogMessage(level, reason))
            if output_stream is not None:
                output_stream.write(reason + "\n")
        return PlanGenerationResult(status, plan, self.name, log_messages=logs)

    def _find(self, domain: str, problem: str, stop: Optional[Stop]) -> "tuple[PlanGenerationResultStatus, Optional[List[Action]], str]":
        task = Task(domain, problem, stop=stop)
        if self._logits is not None:
            try:
                written = write_plan(task, self._logits, stop=stop, **self._options)
            except Infeasible as none:
                return _none(none.verdict), None, str(none)
            if not written.valid:  # without a guarantee there can be such plans
                return PlanGenerationResultStatus.UNSOLVABLE_INCOMPLETELY, None, written.reason
            return PlanGenerationResultStatus.SOLVED_SATISFICING, written.actions, written.reason
        found = task.find(stop=stop)
        if found.actions is None:
            return _none(found.verdict), None, found.reason
        return PlanGenerationResultStatus.SOLVED_SATISFICING, found.actions, found.reason

    def _validate(self, problem: Any, plan: Any) -> ValidationResult:
        try:
            writer, domain, text = _written(problem)
            with _framework(PlanGenerationResultStatus.INTERNAL_ERROR, "the plan cannot be written"):
                steps = [_action(writer, instance) for instance in plan.actions]
            verdict = Task(domain, text).validate(steps)
        except (MetactrlError, _FrameworkError) as error:
            return ValidationResult(ValidationResultStatus.UNKNOWN, self.name, [LogMessage(LogLevel.ERROR, str(error))])
        if verdict.valid:
            return ValidationResult(ValidationResultStatus.VALID, self.name)
        failed = verdict.steps_executed < len(steps)
        return ValidationResult(
            ValidationResultStatus.INVALID,
            self.name,
            [LogMessage(LogLevel.INFO, verdict.reason)],
            reason=FailedValidationReason.INAPPLICABLE_ACTION if failed else FailedValidationReason.UNSATISFIED_GOALS,
            inapplicable_action=plan.actions[verdict.steps_executed] if failed else None,
        )


def _none(verdict: str) -> PlanGenerationResultStatus:
    proved = verdict == "infeasible"
    return PlanGenerationResultStatus.UNSOLVABLE_PROVEN if proved else PlanGenerationResultStatus.UNSOLVABLE_INCOMPLETELY


def _failure(error: MetactrlError) -> PlanGenerationResultStatus:
    if isinstance(error, Stopped):
        return PlanGenerationResultStatus.TIMEOUT
    if isinstance(error, (OutOfMemory, LimitError)):
        return PlanGenerationResultStatus.MEMOUT
    if isinstance(error, InputError):
        return PlanGenerationResultStatus.UNSUPPORTED_PROBLEM
    return PlanGenerationResultStatus.INTERNAL_ERROR


class _FrameworkError(Exception):
    """What the framework itself cannot do with a problem or a plan, and what that makes of the result."""

    def __init__(self, message: str, status: PlanGenerationResultStatus) -> None:
        super().__init__(message)
        self.status = status


@contextlib.contextmanager
def _framework(status: PlanGenerationResultStatus, what: str) -> Iterator[None]:
    """For calls of the framework, whose exceptions are of many kinds: an engine answers, whatever it was given."""
    try:
        yield
    except MemoryError as error:
        raise _FrameworkError(f"{what}: there is no more memory", PlanGenerationResultStatus.MEMOUT) from error
    except Exception as error:
        raise _FrameworkError(f"{what}: {type(error).__name__}: {error}", status) from error


def _written(problem: Any) -> "tuple[PDDLWriter, str, str]":
    """The writer, which knows its names now, and the texts of domain and problem."""
    with _framework(PlanGenerationResultStatus.UNSUPPORTED_PROBLEM, "the problem cannot be written as PDDL"):
        writer = PDDLWriter(problem)
        return writer, writer.get_domain(), writer.get_problem()


def _instance(problem: Any, writer: PDDLWriter, action: Action) -> ActionInstance:
    """A step in the problem's own names; the writer may have changed them."""
    manager = problem.environment.expression_manager
    arguments = [manager.ObjectExp(writer.get_item_named(name)) for name in action.arguments]
    return ActionInstance(writer.get_item_named(action.action), tuple(arguments))


def _action(writer: PDDLWriter, instance: ActionInstance) -> Action:
    arguments = (writer.get_pddl_name(parameter.object()) for parameter in instance.actual_parameters)
    return Action(writer.get_pddl_name(instance.action), tuple(arguments))


def register(environment: Any = None) -> None:
    """Makes the engine known under the name "metactrl"."""
    (environment or get_environment()).factory.add_engine("metactrl", __name__, "MetactrlEngine")
