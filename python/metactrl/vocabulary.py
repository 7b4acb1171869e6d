"""The tokens of a model, and its own tokenizer.

What a token stands for is decided from the vocabulary, not from the tokenizer's class: one with 256 pieces `<0xNN>` is of
SentencePiece's kind ("▁" is a blank), one with the byte alphabet of GPT-2 is a byte-level one. The library then checks that texts
come back byte for byte, so that a wrong decision is an error and no wrong plan.
"""

from __future__ import annotations

import ctypes as c
import itertools
import json
import os
import threading
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from . import _library
from .arguments import whole
from .arrays import id_array, int_list
from .errors import InputError, TokenizerError

# What callbacks need, by the number that the library hands back. An entry goes when the library no longer needs it.
_callbacks: Dict[int, Callable[[str], Sequence[int]]] = {}
_numbers = itertools.count(1)
_failed = threading.local()


def _encode(user: int, text: int, size: int, ids: int, capacity: int) -> int:
    try:
        tokens = int_list(_callbacks[user](c.string_at(text, size).decode() if size else ""))
        count = min(len(tokens), capacity)
        if count:
            c.memmove(ids, (c.c_int32 * count)(*tokens[:count]), 4 * count)
        return len(tokens)
    except BaseException as error:  # nothing may cross the border
        _failed.error = error
        return -1


def _release(user: int) -> None:
    _callbacks.pop(user, None)


_ENCODE = _library.Encode(_encode)
_RELEASE = _library.Release(_release)


def with_cause(work: Callable[[], Any]) -> Any:
    """What `work` returns; where a tokenizer failed meanwhile, its exception is the cause."""
    _failed.error = None
    try:
        return work()
    except TokenizerError as error:
        cause, _failed.error = _failed.error, None
        raise error from cause


def _join(pieces: Sequence[bytes]) -> Tuple[Any, Any]:
    """One blob, and where each piece begins in it."""
    offsets = (c.c_uint64 * (len(pieces) + 1))(0, *itertools.accumulate(map(len, pieces)))
    blob = b"".join(pieces)
    return (c.c_char * max(1, len(blob))).from_buffer_copy(blob or b"\0"), offsets


class Vocabulary(_library.Owner):
    """Tokens as bytes, those that end a turn, and how a text is encoded (None: the longest token that fits, for tests).

    `controls` are special tokens as they are written in a prompt, with whether the tokenizer drops blanks behind them.
    """

    _kind = "vocabulary"

    def __init__(
        self,
        tokens: Sequence[bytes],
        end_of_turn: Iterable[int],
        encode: Optional[Callable[[str], Sequence[int]]] = None,
        *,
        controls: Sequence[Tuple[str, bool]] = (),
        name: str = "vocabulary",
    ) -> None:
        options = _library.defaults("vocabulary", _library.VocabularyOptions)
        blob, offsets = _join(tokens)
        control_blob, control_offsets = _join([text.encode() for text, _ in controls])
        strips = (c.c_uint8 * max(1, len(controls)))(*(1 if strip else 0 for _, strip in controls))
        ends, num_ends = id_array(list(end_of_turn))
        options.num_tokens = len(tokens)
        options.bytes, options.offsets = c.addressof(blob), c.addressof(offsets)
        options.end_of_turn, options.num_end_of_turn = c.addressof(ends), num_ends
        options.control_bytes, options.control_offsets = c.addressof(control_blob), c.addressof(control_offsets)
        options.control_strips, options.num_controls = c.addressof(strips), len(controls)
        options.name = name.encode()
        number = next(_numbers)
        if encode is not None:
            _callbacks[number] = encode
            options.encode, options.user, options.release = _ENCODE, number, _RELEASE
        try:
            handle = with_cause(lambda: _library.make("vocabulary_new", c.byref(options)))
        except BaseException:
            _callbacks.pop(number, None)
            raise
        super().__init__(handle)
        self.name = name
        # How special tokens are written, by their ids; filled by from_tokenizer.
        self.special: Dict[int, bytes] = {}

    @classmethod
    def from_gguf(cls, file: "Union[str, os.PathLike[str]]") -> "Vocabulary":
        """Of a GGUF file, where the library was built with llama.cpp."""
        made = cls.__new__(cls)
        _library.Owner.__init__(made, _library.make("vocabulary_load_gguf", os.fsencode(file)))
        made.name = os.fspath(file)
        made.special = {}
        return made

    @classmethod
    def from_tokenizer(
        cls,
        tokenizer: Any,
        *,
        model: Any = None,
        size: Optional[int] = None,
        end_of_turn: Optional[Iterable[int]] = None,
    ) -> "Vocabulary":
        """Of a Hugging Face tokenizer, fast or slow, or of a `tokenizers.Tokenizer`.

        `size` is how many logits the model gives; with `model`, the width of its output layer. Those that end a turn are the
        tokenizer's and the model's (`generation_config.eos_token_id`), unless `end_of_turn` names them."""
        found = _Tokenizer(tokenizer)
        if size is None:
            size = _width_of(model) or found.size()
        size = whole("size", size, 1, 2**31 - 1)
        ends = sorted(set(end_of_turn)) if end_of_turn is not None else found.ends_of_turn(model)
        ends = [end for end in ends if 0 <= end < size]
        if not ends:
            raise InputError(f"no token of {found.name} ends a turn; name some with end_of_turn=[...]")
        tokens = found.bytes(size, set(ends))
        special = found.special()
        made = cls(tokens, ends, found.encode, controls=[(text, strip) for text, strip in special.values()], name=found.name)
        made.special = {token: text.encode() for token, (text, _) in special.items()}
        return made

    @property
    def size(self) -> int:
        return int(_library.library.metactrl_vocabulary_size(self._handle))

    @property
    def fingerprint(self) -> int:
        return int(_library.library.metactrl_vocabulary_fingerprint(self._handle))

    @property
    def end_of_turn(self) -> List[int]:
        count = c.c_size_t()
        _library.call("vocabulary_end_of_turn", self._handle, None, 0, c.byref(count))
        ids = (c.c_int32 * count.value)()
        _library.call("vocabulary_end_of_turn", self._handle, ids, count.value, c.byref(count))
        return list(ids)

    def encode(self, text: str, context: str = "") -> List[int]:
        """The tokens of a text that continues another one."""
        data, before = text.encode(), context.encode()
        count = c.c_size_t()
        ids = (c.c_int32 * (len(data) + 16))()
        with_cause(
            lambda: _library.call(
                "vocabulary_encode", self._handle, data, len(data), before, len(before), ids, len(ids), c.byref(count)
            )
        )
        return list(ids[: count.value])

    def decode(self, tokens: Iterable[int]) -> bytes:
        ids, count = id_array(list(tokens))
        return _library.text("vocabulary_decode", self._handle, ids, count)

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"<Vocabulary {self.name}: {self.size} tokens>"


def _width_of(model: Any) -> Optional[int]:
    """How many logits a model gives: its output layer knows better than its configuration."""
    if model is None:
        return None
    layer = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    weight = getattr(layer, "weight", None)
    if weight is not None:
        return int(weight.shape[0])
    width = getattr(getattr(model, "config", None), "vocab_size", None)
    return None if width is None else int(width)


def byte_alphabet() -> Dict[str, int]:
    """The characters that byte-level tokenizers write bytes with: printable ones are themselves, the others follow U+0100."""
    plain = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    alphabet = {chr(byte): byte for byte in plain}
    for byte in range(256):
        if byte not in plain:
            alphabet[chr(256 + len(alphabet) - len(plain))] = byte
    return alphabet


class _Tokenizer:
    """What is asked of somebody's tokenizer, whichever kind it is."""

    def __init__(self, tokenizer: Any) -> None:
        self._given = tokenizer
        self._backend = getattr(tokenizer, "backend_tokenizer", None)
        if self._backend is None and hasattr(tokenizer, "to_str") and hasattr(tokenizer, "no_padding"):
            self._backend = tokenizer
        self.name = str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__)
        self._declaration: Dict[str, Any] = {}
        self._lock = threading.Lock()
        self._fast: Any = None
        if self._backend is not None:
            # A copy, so that settings of ours do not change the engine's.
            text = self._backend.to_str()
            self._declaration = json.loads(text)
            if (self._declaration.get("model") or {}).get("dropout"):
                raise InputError(f"{self.name} drops merges at random, so a text has no encoding of its own; set dropout to None")
            self._fast = type(self._backend).from_str(text)
            self._fast.no_padding()
            self._fast.no_truncation()
            self._fast.encode_special_tokens = True

    def encode(self, text: str) -> Sequence[int]:
        if self._fast is not None:
            return self._fast.encode(text, add_special_tokens=False).ids
        with self._lock:
            return self._given.encode(text, add_special_tokens=False, split_special_tokens=True)

    def _vocabulary(self) -> Dict[str, int]:
        if self._backend is not None:
            return self._backend.get_vocab(with_added_tokens=True)
        return self._given.get_vocab()

    def _added(self) -> Dict[int, Any]:
        """id -> a token that was added to the vocabulary, with its text and whether it is special."""
        if self._backend is not None and hasattr(self._backend, "get_added_tokens_decoder"):
            return self._backend.get_added_tokens_decoder()
        return dict(getattr(self._given, "added_tokens_decoder", {}) or {})

    def _special_ids(self) -> "set[int]":
        special = {token for token, added in self._added().items() if getattr(added, "special", False)}
        return special | set(getattr(self._given, "all_special_ids", None) or [])

    def size(self) -> int:
        return 1 + max(self._vocabulary().values(), default=-1)

    def ends_of_turn(self, model: Any) -> List[int]:
        ends: "set[int]" = set()
        settings = getattr(model, "generation_config", None) or getattr(model, "config", None)
        for found in (getattr(settings, "eos_token_id", None), getattr(self._given, "eos_token_id", None)):
            if isinstance(found, (list, tuple, set)):
                ends.update(int(token) for token in found)
            elif found is not None:
                ends.add(int(found))
        return sorted(ends)

    def special(self) -> Dict[int, Tuple[str, bool]]:
        """id -> how it is written, and whether blanks behind it are dropped."""
        added = self._added()
        texts = {token: str(getattr(item, "content", item)) for token, item in added.items()}
        named = {number: text for text, number in self._vocabulary().items()}
        found = {}
        for token in sorted(self._special_ids()):
            text = texts.get(token, named.get(token))
            if text:
                found[token] = text, bool(getattr(added.get(token), "rstrip", False))
        return found

    def _spelling(self, vocabulary: Dict[str, int]) -> Callable[[str], bytes]:
        """From a token as it is written in the vocabulary to its bytes."""
        pieces = {f"<0x{byte:02X}>": bytes([byte]) for byte in range(256)}
        alphabet = byte_alphabet()
        declared = json.dumps([self._declaration.get(key) for key in ("decoder", "pre_tokenizer")])
        if all(piece in vocabulary for piece in pieces):
            return lambda text: pieces.get(text) or text.replace("▁", " ").encode()
        if all(letter in vocabulary for letter in alphabet) or '"ByteLevel"' in declared:
            return lambda text: bytes(alphabet[letter] for letter in text) if all(x in alphabet for x in text) else b""
        if '"Metaspace"' in declared or any("▁" in text for text in vocabulary):
            return lambda text: text.replace("▁", " ").encode()
        return lambda text: text.encode()

    def bytes(self, size: int, ends: "set[int]") -> List[bytes]:
        vocabulary = self._vocabulary()
        spelling = self._spelling(vocabulary)
        added, special = self._added(), self._special_ids()
        tokens = [b""] * size
        for text, token in vocabulary.items():
            if token >= size or token in special or token in ends:
                continue
            # What was added is matched as it is written.
            tokens[token] = str(getattr(added[token], "content", text)).encode() if token in added else spelling(text)
        return tokens
