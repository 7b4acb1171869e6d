"""vLLM as a plug-in sees it, written from its documentation and interfaces (0.28 to 0.32), without vLLM and without a model.

`V1` is the older runner: rows that requests move about in, told by batch updates in the order removed, added, moved; answers are live lists that end in -1
until the tokens have come from the device (asynchronous scheduling), which is mended right before the processor is applied. `V2` is Model Runner V2:
slots that nobody is told are free, buffers of which some are on the host and some on the device, rows in another order at every step, prompts in parts,
drafts that are verified and taken back, requests that are preempted and read again in another slot."""

import abc
import dataclasses
import enum
import sys
import types
import typing

from servers import ENDS, MARKER, SIZE, SlowWithMarker, hostile
from support import TABLETOP, problems

PLACEHOLDER = -1


class MoveDirectionality(enum.Enum):
    UNIDIRECTIONAL = enum.auto()
    SWAP = enum.auto()


@dataclasses.dataclass(frozen=True)
class BatchUpdate:
    batch_size: int
    removed: typing.Sequence
    added: typing.Sequence
    moved: typing.Sequence


class V1Processor(abc.ABC):
    @classmethod
    def validate_params(cls, sampling_params):
        return None

    @abc.abstractmethod
    def __init__(self, vllm_config, device, is_pin_memory):
        raise NotImplementedError

    @abc.abstractmethod
    def apply(self, logits):
        raise NotImplementedError

    @abc.abstractmethod
    def is_argmax_invariant(self):
        raise NotImplementedError

    @abc.abstractmethod
    def update_state(self, batch_update):
        raise NotImplementedError


class V2Processor(abc.ABC):
    def __init__(self, vllm_config, req_states):
        pass

    @classmethod
    def validate_params(cls, sampling_params):
        pass

    def add_request(self, req_idx, sampling_params):
        return True

    def apply_staged_writes(self):
        pass

    @abc.abstractmethod
    def apply(self, logits, ctx):
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class LogitsProcRequestState:
    device: object
    max_num_reqs: int
    vocab_size: int
    all_token_ids: object
    prompt_len: object
    prefill_len: object
    total_len: object


@dataclasses.dataclass(frozen=True)
class LogitsContext:
    expanded_idx_mapping: object
    idx_mapping: object
    idx_mapping_np: object
    expanded_local_pos: object
    input_ids: object
    pos: object
    seq_lens_upper_bound_np: object


def install():
    """What metactrl.vllm imports: the base classes of both runners, and the engine's tokenizer."""
    names = ["vllm", "vllm.v1", "vllm.v1.sample", "vllm.v1.sample.logits_processor", "vllm.v1.worker", "vllm.v1.worker.gpu",
             "vllm.v1.worker.gpu.sample", "vllm.v1.worker.gpu.sample.logits_processor", "vllm.tokenizers"]
    modules = {name: types.ModuleType(name) for name in names}
    modules["vllm.v1.sample.logits_processor"].LogitsProcessor = V1Processor
    modules["vllm.v1.worker.gpu.sample.logits_processor"].LogitsProcessor = V2Processor
    modules["vllm.tokenizers"].cached_tokenizer_from_config = lambda model_config: SlowWithMarker()
    sys.modules.update(modules)


class ModelConfig:
    tokenizer = "slow"

    def get_vocab_size(self):
        return SIZE

    def try_get_generation_config(self):
        return {"eos_token_id": list(ENDS)}


class VllmConfig:
    model_config = ModelConfig()
    additional_config = {
        "metactrl": {
            "context": "assistant:\n",
            "tasks": {name: [str(TABLETOP / "domain.pddl"), str(TABLETOP / f"{name}.pddl")] for name in problems()},
        }
    }


class Params:
    """Sampling parameters with their defaults."""

    def __init__(self, extra_args=None, **other):
        self.extra_args = extra_args
        self.ignore_eos, self.min_tokens, self.logit_bias, self.stop, self.stop_token_ids = False, 0, None, [], []
        self.allowed_token_ids = self.bad_words = self.structured_outputs = self.thinking_token_budget = None
        self.repetition_detection = self.trace_decode_token_ids = None
        self.repetition_penalty, self.presence_penalty, self.frequency_penalty = 1.0, 0.0, 0.0
        self.__dict__.update(other)


class Asked:
    """A request: its parameters, and what was generated. `choose(row of logits, tokens)` samples."""

    def __init__(self, params, prompt, choose):
        self.params, self.prompt, self.choose = params, prompt, choose
        self.tokens = []
        self.computed = 0  # tokens that the model has read

    @property
    def ours(self):
        return any(key.startswith("metactrl_") for key in self.params.extra_args or {})

    @property
    def thinks(self):
        return "metactrl_after" in (self.params.extra_args or {}) and MARKER not in self.tokens

    @property
    def done(self):
        return bool(self.tokens) and self.tokens[-1] in ENDS


class V1:
    """The older runner, scheduling asynchronously."""

    def __init__(self, processor_class, draw, repairs=True):
        import torch

        assert issubclass(processor_class, V1Processor)
        self.processor = processor_class(VllmConfig(), torch.device("cpu"), False)
        self.draw, self.repairs = draw, repairs
        self.rows = []
        self.removed, self.added, self.moved = [], [], []
        self.lists = {}  # request -> its live list
        self.sampled = {}  # request -> what the step before has drawn, still on its way

    def remove(self, row):
        self.removed.append(row)
        self.rows[row] = None

    def add(self, asked):
        """Into the lowest hole, else behind the last."""
        self.removed.sort(reverse=True)
        row = self.removed.pop() if self.removed else len(self.rows)
        self.rows[row : row + 1] = [asked]
        self.lists[asked] = list(asked.tokens)
        self.added.append((row, asked.params, asked.prompt if self.draw.random() < 0.8 else None, self.lists[asked]))

    def condense(self):
        """The last move into the holes that are left."""
        self.removed.sort(reverse=True)
        while self.removed:
            last = max((row for row, one in enumerate(self.rows) if one is not None), default=-1)
            if self.removed[-1] >= last:
                break
            hole = self.removed.pop()
            self.rows[hole], self.rows[last] = self.rows[last], None
            self.moved.append((last, hole, MoveDirectionality.UNIDIRECTIONAL))
        while self.rows and self.rows[-1] is None:
            self.rows.pop()

    def swap(self, one, other):
        self.rows[one], self.rows[other] = self.rows[other], self.rows[one]
        self.moved.append((one, other, MoveDirectionality.SWAP))

    def step(self, arriving=()):
        """One forward pass; returns the logits before and after, of each row."""
        for asked in arriving:
            self.add(asked)
        self.condense()
        if len(self.rows) > 1 and self.draw.random() < 0.3:
            self.swap(*self.draw.sample(range(len(self.rows)), 2))
        changed = self.removed or self.added or self.moved
        self.processor.update_state(BatchUpdate(len(self.rows), self.removed, self.added, self.moved) if changed else None)
        self.removed, self.added, self.moved = [], [], []
        logits = hostile(len(self.rows), self.draw)
        before = logits.clone()
        if self.repairs:
            for asked, token in self.sampled.items():
                if asked in self.rows:
                    self.lists[asked][-1] = token
        after = self.processor.apply(logits)
        self.sampled = {}
        for row, asked in enumerate(self.rows):
            token = asked.choose(after[row], asked.tokens)
            asked.tokens.append(token)
            self.lists[asked].append(PLACEHOLDER)
            self.sampled[asked] = token
        return before, after


class UvaBackedTensor:
    """What the host writes; the device has a copy."""

    def __init__(self, size, dtype):
        import torch

        self.cpu = torch.zeros(size, dtype=dtype)
        self.np = self.cpu.numpy()
        self.gpu = self.cpu.clone()

    def copy_to_uva(self):
        self.gpu = self.cpu.clone()


class StagedWriteTensor:
    """On the device; what the host writes comes there when it is told to."""

    def __init__(self, size, dtype):
        import torch

        self.gpu = torch.zeros(size, dtype=dtype)
        self._staged = []

    def stage_write(self, index, start, values):
        self._staged.append((index, start, list(values)))

    def apply_write(self):
        import torch

        for index, start, values in self._staged:
            if self.gpu.dim() == 1:
                self.gpu[index] = values[0]
            else:
                self.gpu[index, start : start + len(values)] = torch.tensor(values, dtype=self.gpu.dtype)
        self._staged.clear()


class V2:
    """Model Runner V2."""

    def __init__(self, processor_class, draw, slots=8, length=4000, drafter=None):
        import torch

        assert issubclass(processor_class, V2Processor)
        self.all_token_ids = StagedWriteTensor((slots, length), torch.int32)
        self.prompt_len, self.prefill_len = UvaBackedTensor(slots, torch.int32), UvaBackedTensor(slots, torch.int32)
        self.total_len = StagedWriteTensor(slots, torch.int32)
        states = LogitsProcRequestState(
            torch.device("cpu"), slots, SIZE, self.all_token_ids, self.prompt_len, self.prefill_len, self.total_len)
        self.processor = processor_class(VllmConfig(), states)
        self.draw, self.drafter = draw, drafter
        self.free = list(range(slots))
        self.running = {}  # slot -> request
        self.used = set()

    def add(self, asked):
        slot = self.free.pop(self.draw.randrange(len(self.free)))
        everything = asked.prompt + asked.tokens
        self.running[slot] = asked
        asked.computed = 0
        self.all_token_ids.stage_write(slot, 0, everything)
        self.total_len.stage_write(slot, 0, [len(everything)])
        self.prompt_len.np[slot], self.prefill_len.np[slot] = len(asked.prompt), len(everything)
        self.used.add(slot)
        return self.processor.add_request(slot, asked.params)

    def remove(self, slot):
        self.free.append(slot)
        return self.running.pop(slot)

    def step(self):
        """One forward pass; returns for each row its slot (None: a warm-up's, or a part of a prompt), and the logits before and after."""
        import numpy
        import torch

        for slot in list(self.running):
            if self.draw.random() < 0.03:
                self.add(self.remove(slot))  # preempted: all of it is read again, somewhere
        for buffer in (self.all_token_ids, self.total_len):
            buffer.apply_write()
        for buffer in (self.prompt_len, self.prefill_len):
            buffer.copy_to_uva()
        self.processor.apply_staged_writes()
        rows = []  # slot, place among the request's rows, position, token fed, whether it is sampled from
        order = self.draw.sample(sorted(self.running), len(self.running))
        for slot in order:
            asked = self.running[slot]
            everything = asked.prompt + asked.tokens
            if asked.computed < self.prefill_len.np[slot] - 1 and self.draw.random() < 0.4:
                asked.computed = self.draw.randint(asked.computed + 1, int(self.prefill_len.np[slot]) - 1)
                rows.append((slot, 0, asked.computed - 1, everything[asked.computed - 1], False))
                continue
            drafts = self.drafter(asked) if self.drafter and asked.computed >= self.prefill_len.np[slot] else []
            asked.computed = len(everything)
            for place, token in enumerate(everything[-1:] + drafts):
                rows.append((slot, place, len(everything) - 1 + place, token, True))
        never = [slot for slot in self.free if slot not in self.used]
        if never and self.draw.random() < 0.2:
            rows.append((never[0], 0, 0, 0, False))
            order.append(never[0])
        columns = [torch.tensor([row[i] for row in rows]) for i in range(4)]
        ctx = LogitsContext(
            columns[0].int(), torch.tensor(order).int(), numpy.array(order, dtype=numpy.int32), columns[1].int(), columns[3].int(), columns[2],
            numpy.array([len(rows)] * len(order)))
        logits = hostile(len(rows), self.draw)
        before = logits.clone()
        after = self.processor.apply(logits, ctx)
        seen = [slot if sampled else None for slot, _, _, _, sampled in rows]
        taken = {}
        for row, (slot, place, _, fed, sampled) in enumerate(rows):
            asked = self.running.get(slot)
            if not sampled or (place > 0 and taken.get(slot) != fed):
                taken.pop(slot, None)  # the draft before was not taken, so nothing behind it is
                seen[row] = None
                continue
            if asked.done:
                continue
            taken[slot] = asked.choose(after[row], asked.tokens)
            at = len(asked.prompt) + len(asked.tokens)
            self.all_token_ids.gpu[slot, at] = taken[slot]
            self.total_len.gpu[slot] = at + 1
            asked.tokens.append(taken[slot])
        return seen, before, after
