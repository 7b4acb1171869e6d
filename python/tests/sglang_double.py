"""SGLang as a grammar backend sees it, written from its interfaces and documentation (0.5.18), without SGLang and without a model: the base classes with the
cache of grammars, the registry, and a scheduler that allocates a mask whose default is -1, fills only the rows that still write, samples, verifies trees of drafts,
and ends a request alone where `accept_token` raises ValueError. Any other exception is the server's end."""

import concurrent.futures
import sys
import types
import typing

from servers import SIZE, hostile

CHOICES = ["xgrammar", "outlines", "llguidance", "none"]
REGISTRY = {}


class GrammarRow(typing.NamedTuple):
    row: int
    grammar: "BaseGrammarObject"


class BaseGrammarObject:
    def __init__(self):
        self._finished = False
        self.grammar_stats = None
        self.current_token = None

    def maybe_init_reasoning(self, reasoning):
        pass

    def accept_token(self, token):
        raise NotImplementedError()

    def rollback(self, k):
        raise NotImplementedError()

    def is_terminated(self):
        return False

    def allocate_vocab_mask(self, vocab_size, batch_size, device):
        raise NotImplementedError()

    def fill_vocab_mask(self, vocab_mask, idx):
        raise NotImplementedError()

    @staticmethod
    def fill_vocab_mask_batched(entries, vocab_mask):
        for entry in entries:
            entry.grammar.fill_vocab_mask(vocab_mask, entry.row)

    @staticmethod
    def reset_vocab_mask(vocab_mask):
        raise NotImplementedError()

    @staticmethod
    def move_vocab_mask(vocab_mask, device):
        raise NotImplementedError()

    @staticmethod
    def apply_vocab_mask(logits, vocab_mask):
        raise NotImplementedError()

    def copy(self):
        return self

    @property
    def finished(self):
        return self._finished

    @finished.setter
    def finished(self, finished):
        self._finished = finished


class InvalidGrammarObject(BaseGrammarObject):
    def __init__(self, error_message="Unknown grammar error"):
        super().__init__()
        self.error_message = error_message


class BaseGrammarBackend:
    def __init__(self):
        self.executor = concurrent.futures.ThreadPoolExecutor()
        self.cache = {}

    def _init_value_dispatch(self, key, require_reasoning):
        kind, text = key
        if "\0" in text:
            return InvalidGrammarObject("NUL bytes are not allowed")
        grammar = getattr(self, f"dispatch_{kind}")(text)
        if grammar is not None and grammar.grammar_stats is not None:
            grammar.grammar_stats.compilation_time = 0.0
        return grammar

    def get_cached_or_future_value(self, key, require_reasoning):
        value = self.cache.get(key)
        if value:
            made = value.copy()
            made.maybe_init_reasoning(require_reasoning)
            return made, True
        return self.executor.submit(self._init_value_dispatch, key, require_reasoning), False

    def set_cache(self, key, value):
        self.cache[key] = value

    def reset(self):
        self.cache.clear()


def install():
    """What metactrl.sglang imports."""
    names = ["sglang", "sglang.srt", "sglang.srt.constrained", "sglang.srt.constrained.base_grammar_backend", "sglang.srt.server_args"]
    modules = {name: types.ModuleType(name) for name in names}
    base = modules["sglang.srt.constrained.base_grammar_backend"]
    base.BaseGrammarBackend, base.BaseGrammarObject, base.InvalidGrammarObject = BaseGrammarBackend, BaseGrammarObject, InvalidGrammarObject
    base.register_grammar_backend = REGISTRY.__setitem__
    modules["sglang.srt.server_args"].add_grammar_backend_choices = CHOICES.extend
    sys.modules.update(modules)


class Asked:
    """A request with a grammar, or without."""

    def __init__(self, kind=None, text=None):
        self.key = None if kind is None else (kind, text)
        self.tokens, self.grammar, self.aborted = [], None, None


class Server:
    """Scheduler and sampler. `choose(row of logits, request, what it has written)` samples."""

    def __init__(self, backend, draw, choose):
        self.backend, self.draw, self.choose = backend, draw, choose
        self.running = []

    def add(self, asked):
        """With its grammar compiled, as the manager of grammars does it; one that cannot be is the request's own end."""
        if asked.key is not None:
            value, cached = self.backend.get_cached_or_future_value(asked.key, False)
            if not cached:
                try:
                    value = value.result()
                except Exception as error:
                    value = InvalidGrammarObject(f"Grammar compilation failed: {error}")
                self.backend.set_cache(asked.key, value.copy())
            if isinstance(value, InvalidGrammarObject):
                asked.aborted = value.error_message
                return
            asked.grammar = value
        self.running.append(asked)

    def accept(self, asked, tokens):
        """What the request has written; where its grammar says no, it ends. Returns what was kept."""
        kept = []
        try:
            for token in tokens:
                if asked.grammar is not None:
                    asked.grammar.accept_token(token)
                kept.append(token)
                if asked.grammar is not None and asked.grammar.is_terminated():
                    break
        except ValueError as error:
            asked.aborted = str(error)
            self.running.remove(asked)
        asked.tokens += kept
        if asked.grammar is not None:
            asked.grammar.finished = asked.grammar.is_terminated() or asked.aborted is not None
        return kept

    def step(self):
        """A token for every request; returns the requests of the rows, and the logits before and after."""
        batch = list(self.running)
        first = next((asked.grammar for asked in batch if asked.grammar), None)
        logits = hostile(len(batch), self.draw)
        before = logits.clone()
        if first is not None:
            mask = first.allocate_vocab_mask(vocab_size=SIZE, batch_size=len(batch), device="cuda")
            entries = [
                GrammarRow(row=row, grammar=asked.grammar)
                for row, asked in enumerate(batch)
                if asked.grammar and not asked.grammar.finished and not asked.grammar.is_terminated()
            ]
            first.fill_vocab_mask_batched(entries, mask)
            mask = first.move_vocab_mask(mask, "cpu")
            first.apply_vocab_mask(logits=logits, vocab_mask=mask)
        for row, asked in enumerate(batch):
            self.accept(asked, [self.choose(logits[row], asked, asked.tokens)])
        return batch, before, logits

    def verify(self, asked, tree):
        """One step with drafts: `tree` is a list of (parent's number, token); number 0 is the token that was written last. Returns how many drafts
        were right."""
        grammar = asked.grammar
        mask = grammar.allocate_vocab_mask(vocab_size=SIZE, batch_size=len(tree), device="cpu")
        over = set()  # behind these nothing comes, and their rows are not filled
        children = {number: [n for n in range(1, len(tree)) if tree[n][0] == number] for number in range(len(tree))}

        def visit(number, parent):
            token = tree[number][1]
            if number > 0 and not (token < SIZE and mask[parent][token // 32].item() >> (token % 32) & 1):
                return
            if number > 0:
                grammar.accept_token(int(token))
            if grammar.is_terminated():
                over.add(number)
            else:
                grammar.fill_vocab_mask(mask, number)
                for child in children[number]:
                    visit(child, number)
            if number > 0:
                grammar.rollback(1)

        visit(0, -1)
        logits = hostile(len(tree), self.draw)
        grammar.apply_vocab_mask(logits=logits, vocab_mask=mask.to("cpu", non_blocking=True))
        written, number = [], 0
        while True:
            token = self.choose(logits[number], asked, asked.tokens + written)
            written.append(token)
            number = next((child for child in children[number] if tree[child][1] == token), None)
            if number is None or number in over:
                break
        self.accept(asked, written)
        return len(written) - 1
