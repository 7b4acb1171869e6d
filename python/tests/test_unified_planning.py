"""The engine for the Unified Planning framework: against the framework where it is installed, else against a double of what the engine uses of it, written
from its version 1.3. The double's writer renames things as the framework's does, and knows its names only once it has written."""

import enum
import importlib.util
import io
import random
import sys
import types
import unittest

from support import TABLETOP, byte_vocabulary, hostile_row, metactrl, problems

REAL = importlib.util.find_spec("unified_planning") is not None
DOMAIN = (TABLETOP / "domain.pddl").read_text()


def problem_text(name):
    return (TABLETOP / f"{name}.pddl").read_text()


# --- a double of the framework


class Level(enum.Enum):
    INFO, WARNING, ERROR = range(3)


class Log:
    def __init__(self, level, message):
        self.level, self.message = level, message


class Kind(set):
    def __init__(self, features=(), version=None):
        super().__init__(features)


class Status(enum.Enum):
    SOLVED_SATISFICING, UNSOLVABLE_PROVEN, UNSOLVABLE_INCOMPLETELY, TIMEOUT, MEMOUT, INTERNAL_ERROR, UNSUPPORTED_PROBLEM = range(7)


class Valid(enum.Enum):
    VALID, INVALID, UNKNOWN = range(3)


class Item:
    """An action or an object of a problem."""

    def __init__(self, name):
        self.name = name


class Expression:
    def __init__(self, item):
        self._item = item

    def object(self):
        return self._item


class Instance:
    def __init__(self, action, actual_parameters=()):
        self.action, self.actual_parameters = action, actual_parameters


class Sequence:
    kind = "sequential"

    def __init__(self, actions, environment=None):
        self.actions = actions


class Factory:
    def __init__(self):
        self.engines = {}

    def add_engine(self, name, module, class_name):
        self.engines[name] = getattr(sys.modules[module], class_name)


class Environment:
    expression_manager = types.SimpleNamespace(ObjectExp=Expression)

    def __init__(self):
        self.factory = Factory()


class Problem:
    """Holds PDDL as the writer will write it, with an item for every name in it."""

    environment = Environment()

    def __init__(self, domain, problem):
        self.domain, self.problem, self.items = domain, problem, {}

    def item(self, name):
        return self.items.setdefault(name, Item("the " + name.upper()))


class Writer:
    def __init__(self, problem):
        self._problem, self._written = problem, set()

    def get_domain(self):
        self._written.add("domain")
        return self._problem.domain

    def get_problem(self):
        self._written.add("problem")
        return self._problem.problem

    def _ready(self):
        if len(self._written) < 2:
            raise KeyError("names are known once both texts are written")

    def get_item_named(self, name):
        self._ready()
        return self._problem.item(name)

    def get_pddl_name(self, item):
        self._ready()
        return next(name for name, known in self._problem.items.items() if known is item)


def install():
    def result(*names):
        def __init__(self, status, *given, **named):
            self.status = status
            self.__dict__.update(dict.fromkeys(names), **dict(zip(names, given)), **named)

        return type("Result", (), {"__init__": __init__})

    class Engine:
        def __init__(self, **_):
            pass

    class Mixin:
        pass

    class Oneshot(Mixin):
        def solve(self, problem, heuristic=None, timeout=None, output_stream=None, warm_start_plan=None, **more):
            return self._solve_with_params(
                problem=problem, heuristic=heuristic, timeout=timeout, output_stream=output_stream, warm_start_plan=warm_start_plan, **more
            )

    class Validator(Mixin):
        def validate(self, problem, plan):
            return self._validate(problem, plan)

    guarantee = enum.Enum("OptimalityGuarantee", "SATISFICING SOLVED_OPTIMALLY")
    reason = enum.Enum("FailedValidationReason", "INAPPLICABLE_ACTION UNSATISFIED_GOALS")
    environment = Environment()
    contents = {
        "": {},
        ".engines": {
            "Engine": Engine,
            "LogLevel": Level,
            "LogMessage": Log,
            "PlanGenerationResult": result("plan", "engine_name", "metrics", "log_messages"),
            "PlanGenerationResultStatus": Status,
            "ValidationResult": result("engine_name", "log_messages", "metric_evaluations", "reason", "inapplicable_action"),
            "ValidationResultStatus": Valid,
        },
        ".engines.mixins": {"OneshotPlannerMixin": Oneshot, "PlanValidatorMixin": Validator},
        ".engines.mixins.oneshot_planner": {"OptimalityGuarantee": guarantee},
        ".engines.results": {"FailedValidationReason": reason},
        ".environment": {"get_environment": lambda: environment},
        ".io": {"PDDLWriter": Writer},
        ".model": {"ProblemKind": Kind},
        ".plans": {"ActionInstance": Instance, "PlanKind": types.SimpleNamespace(SEQUENTIAL_PLAN="sequential"), "SequentialPlan": Sequence},
    }
    for name, members in contents.items():
        module = types.ModuleType("unified_planning" + name)
        module.__dict__.update(members)
        sys.modules["unified_planning" + name] = module


if not REAL:
    install()
import metactrl.unified_planning as engine  # noqa: E402

NO_GOAL_WAY = "(define (domain d) (:predicates (p) (q)) (:action a :parameters () :effect (q)))"


@unittest.skipIf(REAL, "the framework itself is installed; see WithTheFramework")
class WithADouble(unittest.TestCase):
    def steps(self, problem, plan):
        names = {item: name for name, item in problem.items.items()}
        return [
            metactrl.Action(names[step.action], tuple(names[parameter.object()] for parameter in step.actual_parameters)) for step in plan.actions
        ]

    def test_finds_plans_in_the_names_of_the_problem(self):
        for name in problems():
            problem = Problem(DOMAIN, problem_text(name))
            task = metactrl.Task(problem.domain, problem.problem)
            found = engine.MetactrlEngine().solve(problem)
            if task.search() is None:
                self.assertEqual(found.status, Status.UNSOLVABLE_PROVEN)
                self.assertIsNone(found.plan)
                self.assertTrue(found.log_messages[-1].message)
                continue
            self.assertEqual(found.status, Status.SOLVED_SATISFICING)
            self.assertTrue(task.validate(self.steps(problem, found.plan)).valid)
            self.assertEqual(engine.MetactrlEngine().validate(problem, found.plan).status, Valid.VALID)

    def test_a_hostile_model_writes_plans_that_hold(self):
        draw = random.Random(3)
        vocabulary = byte_vocabulary()
        problem = Problem(DOMAIN, problem_text("dishwasher"))
        task = metactrl.Task(problem.domain, problem.problem)
        for guidance in ("mask", "uniform"):
            planner = engine.MetactrlEngine(logits=lambda tokens: hostile_row(259, draw), vocabulary=vocabulary, guidance=guidance, horizon=12)
            found = planner.solve(problem)
            self.assertEqual(found.status, Status.SOLVED_SATISFICING)
            self.assertTrue(task.validate(self.steps(problem, found.plan)).valid)

    def test_says_what_is_wrong_with_a_plan(self):
        problem = Problem(DOMAIN, problem_text("dishwasher"))
        plan = engine.MetactrlEngine().solve(problem).plan
        validator = engine.MetactrlEngine()
        cut = validator.validate(problem, Sequence(plan.actions[:-1]))
        self.assertEqual((cut.status, cut.reason.name, cut.inapplicable_action), (Valid.INVALID, "UNSATISFIED_GOALS", None))
        turned = Sequence(plan.actions[::-1])
        wrong = validator.validate(problem, turned)
        self.assertEqual((wrong.status, wrong.reason.name), (Valid.INVALID, "INAPPLICABLE_ACTION"))
        self.assertIn(wrong.inapplicable_action, turned.actions)
        self.assertTrue(wrong.log_messages[0].message)

    def test_no_plan_no_time_no_pddl(self):
        planner = engine.MetactrlEngine()
        out = io.StringIO()
        none = planner.solve(Problem(NO_GOAL_WAY, "(define (problem x) (:domain d) (:goal (p)))"), output_stream=out)
        self.assertEqual(none.status, Status.UNSOLVABLE_PROVEN)
        self.assertIn("(p)", out.getvalue())
        broken = Problem("(define (domain", "(define")
        self.assertEqual(planner.solve(broken).status, Status.UNSUPPORTED_PROBLEM)
        self.assertEqual(planner.validate(broken, Sequence([])).status, Valid.UNKNOWN)
        self.assertEqual(planner.solve(Problem(DOMAIN, problem_text("dishwasher")), timeout=0).status, Status.TIMEOUT)

    def test_what_the_framework_raises_is_a_result(self):
        """A problem that its writer cannot write, names that it does not know, and a plan of another problem."""

        class Refusing(Problem):
            def __getattribute__(self, name):
                if name == broken:
                    raise kind("no PDDL for this")
                return super().__getattribute__(name)

        planner, plan = engine.MetactrlEngine(), engine.MetactrlEngine().solve(Problem(DOMAIN, problem_text("dishwasher"))).plan
        for broken, kind, status in (
            ("domain", NotImplementedError, Status.UNSUPPORTED_PROBLEM), ("problem", AssertionError, Status.UNSUPPORTED_PROBLEM),
            ("problem", MemoryError, Status.MEMOUT), ("item", KeyError, Status.INTERNAL_ERROR),
        ):
            out = io.StringIO()
            found = planner.solve(Refusing(DOMAIN, problem_text("dishwasher")), output_stream=out)
            self.assertEqual((found.status, found.plan), (status, None))
            self.assertIn("memory" if kind is MemoryError else "no PDDL for this", found.log_messages[-1].message)
            self.assertEqual(found.log_messages[-1].level, Level.ERROR)
            self.assertEqual(out.getvalue().strip(), found.log_messages[-1].message)
            if broken != "item":
                judged = planner.validate(Refusing(DOMAIN, problem_text("dishwasher")), plan)
                self.assertEqual((judged.status, len(judged.log_messages)), (Valid.UNKNOWN, 1))
        judged = planner.validate(Problem(DOMAIN, problem_text("dishwasher")), plan)  # its items are of another problem
        self.assertEqual(judged.status, Valid.UNKNOWN)
        self.assertIn("cannot be written", judged.log_messages[0].message)
        with self.assertRaises(ZeroDivisionError):  # what the caller's own model raises is the caller's
            engine.MetactrlEngine(logits=lambda tokens: 1 // 0, vocabulary=byte_vocabulary()).solve(Problem(DOMAIN, problem_text("dishwasher")))

    def test_what_is_not_used_is_said(self):
        found = engine.MetactrlEngine().solve(Problem(DOMAIN, problem_text("dishwasher")), heuristic=len, colour="red")
        warned = [log.message for log in found.log_messages if log.level == Level.WARNING]
        self.assertEqual(warned, ["the heuristic is not used", "colour is not known"])
        with self.assertRaisesRegex(TypeError, "temperature"):
            engine.MetactrlEngine(temperature=1)

    def test_what_it_claims(self):
        supports = engine.MetactrlEngine.supports
        self.assertTrue(supports(Kind(["ACTION_BASED", "HIERARCHICAL_TYPING", "INT_FLUENTS", "ACTIONS_COST"])))
        for beyond in ("CONTINUOUS_TIME", "OBJECT_FLUENTS", "BOUNDED_TYPES", "SIMULATED_EFFECTS", "HIERARCHICAL"):
            self.assertFalse(supports(Kind(["ACTION_BASED", beyond])))
        engine.register()
        self.assertIs(sys.modules["unified_planning.environment"].get_environment().factory.engines["metactrl"], engine.MetactrlEngine)


@unittest.skipUnless(REAL, "the Unified Planning framework is not installed")
class WithTheFramework(unittest.TestCase):
    """Its own example problems: what it calls valid and invalid, and its own validator over our plans."""

    def test_example_problems(self):
        import unified_planning.model
        from unified_planning.engines.plan_validator import SequentialPlanValidator
        from unified_planning.plans import PlanKind
        from unified_planning.shortcuts import OneshotPlanner, PlanValidator, get_environment
        from unified_planning.test.examples import get_example_problems

        engine.register()
        get_environment().credits_stream = None
        solved = 0
        for name, example in get_example_problems().items():
            problem = example.problem
            if not isinstance(problem, unified_planning.model.Problem) or not engine.MetactrlEngine.supports(problem.kind):
                continue
            with self.subTest(name), OneshotPlanner(name="metactrl") as planner, PlanValidator(name="metactrl") as validator:
                found = planner.solve(problem)
                self.assertEqual(found.plan is not None, example.solvable)
                if found.plan is not None:
                    self.assertTrue(SequentialPlanValidator().validate(problem, found.plan))
                    self.assertTrue(validator.validate(problem, found.plan))
                    solved += 1
                for plans, right in ((example.valid_plans, True), (example.invalid_plans, False)):
                    for plan in plans:
                        if plan.kind == PlanKind.SEQUENTIAL_PLAN:
                            self.assertEqual(bool(validator.validate(problem, plan)), right)
        self.assertGreaterEqual(solved, 20)


if __name__ == "__main__":
    unittest.main(verbosity=2)
