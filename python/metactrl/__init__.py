"""Plans from language models that keep the rules.

    import metactrl

    task = metactrl.Task.load("domain.pddl", "problem.pddl")
    vocabulary = metactrl.Vocabulary.from_tokenizer(tokenizer, model=model)      # Hugging Face, fast or slow
    plan = metactrl.plan(task, lambda tokens: logits_behind(tokens), vocabulary)
    print(plan.text, task.validate(plan.text, "pddl").valid)

`Task`, `Format` and `Vocabulary` make a `Constraint`; a `Decoder` says token by token what may come. `metactrl.transformers` has a
`LogitsProcessor` and a `generate` that feeds forced runs in one pass. docs/python.md walks through all of it.

Everything here is a thin layer over libmetactrl_c (metactrl/c.h); the interpreter's lock is released while it works.
"""

from ._library import VERSION as __version__
from .decoding import Batch, Constraint, Decoder, Hmm, Trace
from .errors import (
    ArgumentError,
    BusyError,
    Diagnostic,
    Infeasible,
    InputError,
    InternalError,
    LimitError,
    MetactrlError,
    OutOfMemory,
    Stopped,
    TokenizerError,
)
from .planning import Plan, explain, plan
from .tasks import Action, Format, Found, Preference, Schedule, Stop, Task, TimedAction, Validation, validate
from .vocabulary import Vocabulary

__all__ = [
    "Action",
    "ArgumentError",
    "Batch",
    "BusyError",
    "Constraint",
    "Decoder",
    "Diagnostic",
    "Format",
    "Found",
    "Hmm",
    "Infeasible",
    "InputError",
    "InternalError",
    "LimitError",
    "MetactrlError",
    "OutOfMemory",
    "Plan",
    "Preference",
    "Schedule",
    "Stop",
    "Stopped",
    "Task",
    "TimedAction",
    "TokenizerError",
    "Trace",
    "Validation",
    "Vocabulary",
    "explain",
    "plan",
    "validate",
    "__version__",
]
