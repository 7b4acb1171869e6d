"""What engines that serve many requests share: constraints that are compiled once, in the background, and rows that follow requests.

A request says what it wants in a few words: PDDL texts or the name of a task that the server knows, a format, a guidance. `Requests.read` turns that
into a `Wanted`, `Requests.constraint` into a constraint: one compilation for all who want the same, on a thread of its own, so that nobody waits who
does not need it. `Rows` keeps a decoder for every slot of an engine and lists what may come for many of them in one call.
"""

from __future__ import annotations

import concurrent.futures
import json
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from .decoding import Batch, Constraint, Decoder, Hmm
from .errors import ArgumentError, Infeasible
from .tasks import Format, Task
from .vocabulary import Vocabulary

_FORMATS = ("pddl", "json", "sentences", "behavior-actions", "behavior-subgoals", "virtualhome-actions", "virtualhome-subgoals")
_GUIDANCE = ("uniform", "trained", "mask", "syntax")
_KEYS = ("task", "domain", "problem", "format", "guidance", "horizon", "context", "after")


@dataclass(frozen=True)
class Wanted:
    """What a request asks for. Two that are equal share a constraint."""

    domain: str
    problem: str
    format: str = "pddl"
    guidance: str = "uniform"
    horizon: int = 0  # 0: what the best plan known needs, and some more
    context: str = ""
    after: str = ""  # text behind which the plan begins, such as "</think>"; "": at once


class Requests:
    """Constraints for the requests of one vocabulary. `tasks` are those that requests may name: name -> (domain, problem) as texts. `hmm` is the model
    of plans for those that ask for guidance "trained"; without one they are refused.

    Budgets count work and no seconds, so that all ranks of an engine that is spread over several devices agree."""

    def __init__(
        self,
        vocabulary: Callable[[], Vocabulary],
        tasks: Optional[Mapping[str, Tuple[str, str]]] = None,
        *,
        context: str = "",
        hmm: Optional[Hmm] = None,
        threads: int = 2,
        most: int = 64,
    ) -> None:
        self._make_vocabulary = vocabulary
        self._vocabulary: Optional[Vocabulary] = None
        self._tasks = dict(tasks or {})
        self._context = context
        self._hmm = hmm
        self._pool = concurrent.futures.ThreadPoolExecutor(threads, thread_name_prefix="metactrl")
        self._lock = threading.Lock()
        self._made: "Dict[Wanted, concurrent.futures.Future[Constraint]]" = {}
        self._most = most

    @staticmethod
    def check(given: Mapping[str, Any], tasks: Optional[Mapping[str, Any]] = None) -> None:
        """Raises ArgumentError for what can be seen to be wrong without a vocabulary."""
        unknown = sorted(set(given) - set(_KEYS))
        if unknown:
            raise ArgumentError(f"a request has no {', '.join(unknown)}; known: {', '.join(_KEYS)}")
        named, texts = "task" in given, "domain" in given or "problem" in given
        if named == texts or (texts and not ("domain" in given and "problem" in given)):
            raise ArgumentError("a request names a task, or has the texts of a domain and a problem")
        for key in set(given) - {"horizon"}:
            if not isinstance(given[key], str):
                raise ArgumentError(f"{key} is a text, not {type(given[key]).__name__}")
        if named and tasks is not None and given["task"] not in tasks:
            raise ArgumentError(f"there is no task {given['task']!r}; known: {', '.join(sorted(tasks)) or 'none'}")
        if given.get("format", "pddl") not in _FORMATS:
            raise ArgumentError(f"there is no format {given['format']!r}; known: {', '.join(_FORMATS)}")
        if given.get("guidance", "uniform") not in _GUIDANCE:
            raise ArgumentError(f"there is no guidance {given['guidance']!r}; known: {', '.join(_GUIDANCE)}")
        horizon = given.get("horizon", 0)
        if isinstance(horizon, bool) or not isinstance(horizon, int) or not 0 <= horizon <= 10000:
            raise ArgumentError(f"the horizon is a number between 0 and 10000, not {horizon!r}")

    def read(self, given: Mapping[str, Any]) -> Wanted:
        """`given` as JSON has it; see `check`."""
        self.check(given, self._tasks)
        if given.get("guidance") == "trained" and self._hmm is None:
            raise ArgumentError("guidance trained needs a model of plans, and this server has none")
        domain, problem = self._tasks[given["task"]] if "task" in given else (given["domain"], given["problem"])
        rest = {key: given[key] for key in ("format", "guidance", "horizon", "after") if key in given}
        return Wanted(domain, problem, context=given.get("context", self._context), **rest)

    @staticmethod
    def parse(text: str) -> Dict[str, Any]:
        """A request that is one string: JSON."""
        try:
            given = json.loads(text)
        except ValueError as error:
            raise ArgumentError(f"a request is a JSON object: {error}") from None
        if not isinstance(given, dict):
            raise ArgumentError("a request is a JSON object")
        return given

    @property
    def vocabulary(self) -> Vocabulary:
        with self._lock:
            if self._vocabulary is None:
                self._vocabulary = self._make_vocabulary()
            return self._vocabulary

    def _compile(self, wanted: Wanted) -> Constraint:
        constraint = Constraint(
            Task(wanted.domain, wanted.problem),
            self.vocabulary,
            Format(wanted.format),
            context=wanted.context,
            horizon=wanted.horizon,
            hmm=self._hmm if wanted.guidance == "trained" else None,
        )
        if wanted.guidance != "syntax" and constraint.verdict != "solvable":
            raise Infeasible(constraint.reason, constraint.verdict)
        return constraint

    def start(self, wanted: Wanted) -> "concurrent.futures.Future[Constraint]":
        """Begins to compile, unless somebody has. What failed is tried again by the next who asks."""
        with self._lock:
            found = self._made.pop(wanted, None)
            if found is None or (found.done() and found.exception() is not None):
                found = self._pool.submit(self._compile, wanted)
            self._made[wanted] = found  # the latest comes last
            while len(self._made) > self._most:
                del self._made[next(iter(self._made))]
            return found

    def request(self, given: Mapping[str, Any]) -> "Request":
        """An answer to be written. Its constraint is compiled meanwhile."""
        wanted = self.read(given)
        return Request(wanted, self.start(wanted), self.vocabulary)


class Request:
    """One answer that is being written, known by its tokens."""

    def __init__(self, wanted: Wanted, constraint: "concurrent.futures.Future[Constraint]", vocabulary: Vocabulary) -> None:
        self.wanted = wanted
        self.vocabulary = vocabulary
        self.ends = set(vocabulary.end_of_turn)
        self._constraint = constraint
        self._decoder: Optional[Decoder] = None
        self._begins = 0 if not wanted.after else -1  # where the plan begins in the tokens; -1: not known yet
        self._text = b""
        self._looked_at = 0

    def fork(self) -> "Request":
        """Another answer to the same."""
        return Request(self.wanted, self._constraint, self.vocabulary)

    @property
    def failure(self) -> Optional[BaseException]:
        """Why there will be no plan: a mistake in the task, or none exists. Waits until that is known."""
        return self._constraint.exception()

    @property
    def decoder(self) -> Decoder:
        """At the beginning of the plan, when it is first asked for. Waits until the constraint is compiled."""
        if self._decoder is None:
            self._decoder = Decoder(self._constraint.result(), guidance=self.wanted.guidance)
        return self._decoder

    def plan_tokens(self, tokens: Sequence[int]) -> Optional[List[int]]:
        """Those of the plan, up to the end of its turn; None while the model still thinks."""
        if self._begins >= 0 and self._begins > len(tokens):
            self._begins, self._looked_at, self._text = -1 if self.wanted.after else 0, 0, b""
        if self._begins < 0:
            self._find(tokens)
        if self._begins < 0:
            return None
        mine = list(tokens[self._begins :])
        for place, token in enumerate(mine):
            if token in self.ends:
                return mine[: place + 1]
        return mine

    def _find(self, tokens: Sequence[int]) -> None:
        """Looks for the marker; a plan begins with the token behind it. Tokens that were taken back are looked at again."""
        if len(tokens) < self._looked_at:
            self._looked_at, self._text = 0, b""
        marker = self.wanted.after.encode()
        while self._looked_at < len(tokens):
            token = tokens[self._looked_at]
            self._text += self._written(token)
            self._looked_at += 1
            if marker in self._text:
                self._begins = self._looked_at
                return
            self._text = self._text[-len(marker) :]

    def _written(self, token: int) -> bytes:
        """As it is written in a prompt: a marker is often one special token, which has no bytes of its own."""
        known = 0 <= token < self.vocabulary.size
        return self.vocabulary.special.get(token) or (self.vocabulary.decode([token]) if known else b"")


class Rows:
    """Lists what may come for many requests in one call."""

    def __init__(self, batch: Optional[Batch] = None) -> None:
        self._batch = batch or Batch()

    def next(self, requests: Sequence[Request], tokens: Sequence[Sequence[int]]) -> List[Optional[Tuple[List[int], List[float]]]]:
        """Ids and log weights per row; None where anything may come. A row may only end its turn where there is no plan, where its tokens are none's,
        and where it has ended: the other rows do not notice.

        One request may be in several rows, as drafts are: each is looked at with a decoder of its own."""
        wanted = [request.plan_tokens(row) for request, row in zip(requests, tokens)]
        decoders: List[Optional[Decoder]] = []
        used: "set[int]" = set()
        for request, plan in zip(requests, wanted):
            if plan is None or request.failure is not None:
                decoders.append(None)
                continue
            decoder = request.decoder
            decoders.append(decoder if id(decoder) not in used else decoder.clone())
            used.add(id(decoder))
        fits = self._batch.seek(decoders, [plan or [] for plan in wanted])
        listed = self._batch.next(decoders, keep_ending=True)
        answer: List[Optional[Tuple[List[int], List[float]]]] = []
        for row, request in enumerate(requests):
            ids, weights = listed[row]
            if wanted[row] is None:
                answer.append(None)
            elif decoders[row] is not None and fits[row] and ids:
                answer.append((ids, weights))
            else:
                ends = sorted(request.ends)
                answer.append((ends, [0.0] * len(ends)))
        return answer
