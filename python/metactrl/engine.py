"""What engines that serve many requests share: constraints that are compiled once, in the background, and rows that follow requests.

A request says what it wants in a few words: PDDL texts or the name of a task that the server knows, a format, a guidance. `Requests.read` turns that
into a `Wanted`, `Requests.start` into a constraint: one compilation for all who want the same, on a thread of its own. Whoever asks for a decoder
before it is compiled waits. `Rows` lists what may come in many answers in one call, so it waits for all of them.

An engine decodes many requests in one batch, and an exception from a plug-in ends all of them. So nothing here that depends on a request raises: a request
that is wrong, has no plan, or whose decoder fails, fails alone. Its answer then says why, since that is the one way to its client that every engine has (an
answer that just ended could be taken for a plan without steps), and ends.
"""

from __future__ import annotations

import concurrent.futures
import json
import logging
import threading
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from .answers import Answer, common_length
from .decoding import Batch, Constraint, Decoder, Hmm
from .errors import ArgumentError, Infeasible, MetactrlError
from .tasks import Format, Task
from .vocabulary import Vocabulary

_FORMATS = ("pddl", "json", "sentences", "behavior-actions", "behavior-subgoals", "virtualhome-actions", "virtualhome-subgoals")
_GUIDANCE = ("uniform", "trained", "mask", "syntax")
_KEYS = ("task", "domain", "problem", "format", "guidance", "horizon", "context", "after")
_LOG = logging.getLogger("metactrl")


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
        vocabulary: Vocabulary,
        tasks: Optional[Mapping[str, Tuple[str, str]]] = None,
        *,
        context: str = "",
        hmm: Optional[Hmm] = None,
        threads: int = 2,
        most: int = 64,
    ) -> None:
        self.vocabulary = vocabulary
        self._tasks = dict(tasks or {})
        self._context = context
        self._hmm = hmm
        self._pool = concurrent.futures.ThreadPoolExecutor(threads, thread_name_prefix="metactrl")
        self._lock = threading.Lock()
        self._made: "Dict[Wanted, concurrent.futures.Future[Constraint]]" = {}
        self.most = most

    @staticmethod
    def check(given: Mapping[str, Any], tasks: Optional[Mapping[str, Any]] = None) -> None:
        """Raises ArgumentError for what can be seen to be wrong without a vocabulary."""
        unknown = sorted(set(given) - set(_KEYS))
        if unknown:
            raise ArgumentError(f"a request has no {', '.join(map(ascii, unknown))}; known: {', '.join(_KEYS)}")
        named, texts = "task" in given, "domain" in given or "problem" in given
        if named == texts or (texts and not ("domain" in given and "problem" in given)):
            raise ArgumentError("a request names a task, or has the texts of a domain and a problem")
        for key in set(given) - {"horizon"}:
            if not isinstance(given[key], str):
                raise ArgumentError(f"{key} is a text, not {type(given[key]).__name__}")
            try:
                given[key].encode()
            except UnicodeEncodeError as error:
                raise ArgumentError(f"{key} is no text from character {error.start} on: {error.reason}; write it in UTF-8") from None
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
            while len(self._made) > self.most:
                del self._made[next(iter(self._made))]
            return found

    def request(self, given: Mapping[str, Any]) -> "Request":
        """An answer to be written. Its constraint is compiled meanwhile. What is wrong with the request is its `failure`."""
        try:
            wanted = self.read(given)
            return Request(wanted, self.start(wanted), self.vocabulary)
        except MetactrlError as error:
            refused: "concurrent.futures.Future[Constraint]" = concurrent.futures.Future()
            refused.set_exception(error)
            return Request(Wanted("", ""), refused, self.vocabulary)


class Request:
    """One answer that is being written: what the model thinks first, and behind that the plan. An engine says what comes behind it (`write`), what is taken
    back (`cut`), or shows its own list (`follow`)."""

    def __init__(self, wanted: Wanted, constraint: "concurrent.futures.Future[Constraint]", vocabulary: Vocabulary) -> None:
        self.wanted = wanted
        self.vocabulary = vocabulary
        self.ends = set(vocabulary.end_of_turn)
        self.plan = Answer(self.ends)
        self._constraint = constraint
        self._decoder: Optional[Decoder] = None
        self._marker = wanted.after.encode()
        self._thoughts: List[int] = []  # tokens in front of the plan
        self._said = b""  # the end of what they say, as long as the marker
        self._begun = not wanted.after  # whether the plan begins behind them
        self._error: Optional[BaseException] = None
        self._failed = 0  # tokens that the plan had then
        self._last_words: List[int] = []

    def fork(self) -> "Request":
        """Another answer to the same, as far as this one is."""
        made = Request(self.wanted, self._constraint, self.vocabulary)
        made.write(self._thoughts + self.plan.tokens)
        return made

    @property
    def failure(self) -> Optional[BaseException]:
        """Why there can be no plan: a mistake in the request, or none exists. Waits until that is known."""
        return self._constraint.exception()

    @property
    def decoder(self) -> Decoder:
        """Of the plan; where `plan.told` says. Waits until the constraint is compiled; raises what has failed."""
        if self._decoder is None:
            self._decoder = Decoder(self._constraint.result(), guidance=self.wanted.guidance)
            self.plan.told = 0
        return self._decoder

    # --- its tokens

    def __len__(self) -> int:
        return len(self._thoughts) + len(self.plan.tokens)

    @property
    def begun(self) -> bool:
        """Whether its tokens are those of the plan; before, the model still thinks."""
        return self._begun

    def write(self, tokens: Sequence[int]) -> None:
        self.plan.write(tokens if self._begun else self._think(tokens))

    def cut(self, length: int) -> None:
        """Keeps so many tokens. A failure behind them is none."""
        self.plan.cut(max(0, length - len(self._thoughts)))
        if length < len(self._thoughts):
            del self._thoughts[length:]
            self._begun, self._said = False, b""
            for token in reversed(self._thoughts):
                self._said = (self._written(token) + self._said)[-len(self._marker) :]
                if len(self._said) == len(self._marker):
                    break
        if len(self.plan) < self._failed:
            self._error, self._failed = None, 0

    def follow(self, tokens: Sequence[int]) -> Sequence[int]:
        """Goes on to what the engine's own list of this answer says, and returns what is new. Such a list grows at its end. One that is shorter, or whose token at the
        place of the last one known is another, is read anew."""
        known = len(self)
        if known > 0 and (len(tokens) < known or tokens[known - 1] != self._last()):
            known = common_length(self._thoughts + self.plan.tokens, tokens)
            self.cut(known)
        new = tokens[known:]
        self.write(new)
        return new

    def _last(self) -> int:
        return self.plan.tokens[-1] if self.plan.tokens else self._thoughts[-1]

    def _think(self, tokens: Sequence[int]) -> Sequence[int]:
        """Looks for the marker; a plan begins with the token behind it. Returns what is of the plan."""
        for place, token in enumerate(tokens):
            self._thoughts.append(token)
            said = self._said + self._written(token)
            if self._marker in said:
                self._begun = True
                return tokens[place + 1 :]
            self._said = said[-len(self._marker) :]
        return []

    def _written(self, token: int) -> bytes:
        """As it is written in a prompt: a marker is often one special token, which has no bytes of its own."""
        known = 0 <= token < self.vocabulary.size
        return self.vocabulary.special.get(token) or (self.vocabulary.decode([token]) if known else b"")

    # --- answers that fail

    def fail(self, error: BaseException, length: int) -> None:
        """There is no plan behind so many tokens of it."""
        _LOG.warning("metactrl: no plan: %s", error)
        self._error, self._failed, self._last_words = error, length, []
        said = "\n" * (length > 0) + "metactrl: no plan: " + " ".join(str(error).split())
        try:
            words = self.vocabulary.encode(said)
        except MetactrlError:
            return  # it ends without a word: the tokenizer has none
        if all(0 <= token < self.vocabulary.size and token not in self.ends for token in words):
            self._last_words = words

    @property
    def failed(self) -> Optional[BaseException]:
        """Why there is no plan behind its tokens. Engines take tokens back, and failures with them."""
        return self._error

    def last_words(self) -> List[int]:
        """What an answer that has failed goes on with: the next token of the reason, or an end."""
        words, count = self._last_words, len(self.plan) - self._failed
        if self._error is None or count >= len(words) or self.plan.tokens[self._failed : len(self.plan)] != words[:count]:
            return sorted(self.ends)
        return [words[count]]


class Rows:
    """Lists what may come for many requests in one call."""

    def __init__(self, batch: Optional[Batch] = None) -> None:
        self._batch = batch or Batch()

    def next(self, rows: Sequence[Tuple[Request, Sequence[int]]]) -> List[Optional[Tuple[List[int], List[float]]]]:
        """Ids and log weights per row; None where anything may come. A request that fails does so alone (`Request.failed`), and its row says why.

        A row is behind what its request has written, and behind drafts, tokens that may be taken back: such a row is looked at with a decoder of its own, and
        a draft that is none only ends."""
        decoders: List[Optional[Decoder]] = []
        moves: List[Tuple[int, List[int]]] = []
        for request, drafts in rows:
            length = len(request)
            request.write(drafts)
            decoder = self._decoder(request, bool(drafts)) if request.begun else None
            decoders.append(decoder)
            moves.append((0, []) if decoder is None else request.plan.news())
            request.cut(length)
        reached = self._batch.move(decoders, moves)
        errors = self._batch.errors
        listed = self._batch.next(decoders, keep_ending=True)
        errors = {**self._batch.errors, **errors}
        answer: List[Optional[Tuple[List[int], List[float]]]] = []
        for row, (request, drafts) in enumerate(rows):
            ids, weights = listed[row]
            length, (kept, new) = len(request), moves[row]
            fits = reached[row] == kept + len(new) and bool(ids)
            if decoders[row] is not None and not drafts:
                request.plan.told = reached[row]
            request.write(drafts)
            if decoders[row] is not None and not fits and (row in errors or not drafts):
                request.fail(errors.get(row) or ArgumentError("the engine took a token that may not come"), len(request.plan))
            if not request.begun:
                answer.append(None)
            elif decoders[row] is None or not fits:
                words = request.last_words()
                answer.append((words, [0.0] * len(words)))
            else:
                answer.append((ids, weights))
            request.cut(length)
        return answer

    @staticmethod
    def _decoder(request: Request, draft: bool) -> Optional[Decoder]:
        """The one to look at a row with; None where the request has failed."""
        if request.failed is not None:
            return None
        try:
            return request.decoder.clone() if draft else request.decoder
        except Exception as error:
            request.fail(error, 0 if request.failure is not None else len(request.plan))
            return None
