"""libmetactrl_c through ctypes: where it is, what its functions take, and how its errors become exceptions.

ctypes releases the interpreter's lock for the time of every call and takes it for callbacks.
"""

from __future__ import annotations

import ctypes as c
import json
import os
import pathlib
import weakref
from typing import Any, Dict, List, Tuple

from .errors import make_error

ABI_VERSION = 1
_VARIABLE = "METACTRL_LIBRARY"

Handle = c.c_void_p
Encode = c.CFUNCTYPE(c.c_int64, c.c_void_p, c.c_void_p, c.c_size_t, c.c_void_p, c.c_size_t)
Release = c.CFUNCTYPE(None, c.c_void_p)


class TaskOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("max_ground_actions", c.c_uint64),
        ("max_ground_facts", c.c_uint64),
        ("max_work", c.c_uint64),
    ]


class VocabularyOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("num_tokens", c.c_size_t),
        ("bytes", c.c_void_p),
        ("offsets", c.c_void_p),
        ("end_of_turn", c.c_void_p),
        ("num_end_of_turn", c.c_size_t),
        ("control_bytes", c.c_void_p),
        ("control_offsets", c.c_void_p),
        ("control_strips", c.c_void_p),
        ("num_controls", c.c_size_t),
        ("encode", Encode),
        ("user", c.c_void_p),
        ("release", Release),
        ("name", c.c_char_p),
    ]


class ConstraintOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("context", c.c_char_p),
        ("context_size", c.c_size_t),
        ("tokenization", c.c_int32),
        ("horizon", c.c_uint32),
        ("fixed_horizon", c.c_int32),
        ("slack", c.c_int32),
        ("weights", c.c_int32),
        ("costs", c.c_int32),
        ("exact_states", c.c_uint64),
        ("exact_bytes", c.c_uint64),
        ("search_states", c.c_uint64),
        ("search_bytes", c.c_uint64),
        ("search_work", c.c_uint64),
        ("hmm", c.c_void_p),
        ("improve", c.c_uint64),
        ("drop_goals", c.c_int32),
    ]


class DecoderOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("guidance", c.c_int32),
        ("bridge", c.c_int32),
        ("horizon", c.c_uint32),
        ("forbid_empty", c.c_int32),
        ("candidate_states", c.c_uint64),
        ("candidate_bytes", c.c_uint64),
        ("candidate_work", c.c_uint64),
        ("idle_steps", c.c_int32),
        ("no_detours", c.c_int32),
        ("per_action", c.c_double),
        ("per_cost", c.c_double),
        ("token_hmm", c.c_void_p),
    ]


_P = c.c_void_p  # a handle or an array
_OUT = c.POINTER(c.c_void_p)
_COUNT = c.POINTER(c.c_size_t)
_SIZE = c.c_size_t
_TEXT = c.c_char_p

# function -> what it returns and takes. Where it returns None here, it returns a status, and an error is its last argument.
_FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "abi_version": (c.c_uint32, []),
    "version": (_TEXT, []),
    "error_status": (c.c_int32, [_P]),
    "error_message": (_TEXT, [_P]),
    "error_details": (_TEXT, [_P]),
    "error_free": ("nothing", [_P]),
    "text_data": (c.c_void_p, [_P]),
    "text_size": (_SIZE, [_P]),
    "text_free": ("nothing", [_P]),
    "stop_new": (None, [_OUT]),
    "stop_request": ("nothing", [_P]),
    "stop_after": (None, [_P, c.c_double]),
    "stop_requested": (c.c_int32, [_P]),
    "stop_free": ("nothing", [_P]),
    "task_options_default": ("nothing", [c.POINTER(TaskOptions)]),
    "task_load": (None, [_TEXT, _TEXT, c.POINTER(TaskOptions), _P, _OUT]),
    "task_parse": (None, [_TEXT, _SIZE, _TEXT, _SIZE, c.POINTER(TaskOptions), _P, _OUT]),
    "task_info": (None, [_P, _OUT]),
    "task_validate": (None, [_P, _P, _TEXT, _SIZE, _P, _OUT]),
    "task_schedule": (None, [_P, _P, _TEXT, _SIZE, c.c_int32, _P, _OUT]),
    "task_search": (None, [_P, c.c_uint32, _P, _OUT]),
    "task_prompt": (None, [_P, _P, _TEXT, _SIZE, _OUT]),
    "task_free": ("nothing", [_P]),
    "format_builtin": (None, [_TEXT, _OUT]),
    "format_parse": (None, [_TEXT, _SIZE, _OUT]),
    "format_free": ("nothing", [_P]),
    "vocabulary_options_default": ("nothing", [c.POINTER(VocabularyOptions)]),
    "vocabulary_new": (None, [c.POINTER(VocabularyOptions), _OUT]),
    "vocabulary_load_gguf": (None, [_TEXT, _OUT]),
    "vocabulary_size": (_SIZE, [_P]),
    "vocabulary_fingerprint": (c.c_uint64, [_P]),
    "vocabulary_end_of_turn": (None, [_P, _P, _SIZE, _COUNT]),
    "vocabulary_encode": (None, [_P, _TEXT, _SIZE, _TEXT, _SIZE, _P, _SIZE, _COUNT]),
    "vocabulary_decode": (None, [_P, _P, _SIZE, _OUT]),
    "vocabulary_free": ("nothing", [_P]),
    "hmm_load": (None, [_TEXT, _OUT]),
    "hmm_info": (None, [_P, _OUT]),
    "hmm_free": ("nothing", [_P]),
    "constraint_options_default": ("nothing", [c.POINTER(ConstraintOptions)]),
    "constraint_compile": (None, [_P, _P, _P, c.POINTER(ConstraintOptions), _P, _OUT]),
    "constraint_verdict": (c.c_int32, [_P]),
    "constraint_info": (None, [_P, _OUT]),
    "constraint_max_tokens": (_SIZE, [_P]),
    "constraint_check": (None, [_P, _P, _SIZE, _P, _OUT]),
    "constraint_free": ("nothing", [_P]),
    "decoder_options_default": ("nothing", [c.POINTER(DecoderOptions)]),
    "decoder_new": (None, [_P, c.POINTER(DecoderOptions), _P, _OUT]),
    "decoder_clone": (None, [_P, _OUT]),
    "decoder_next": (None, [_P, _P, _P, _SIZE, _COUNT]),
    "decoder_fill_bitmask": (None, [_P, _P, _SIZE]),
    "decoder_fill_bias": (None, [_P, _P, _SIZE]),
    "decoder_choose": (None, [_P, _P, _SIZE, c.c_double, c.c_double, c.c_uint64, c.POINTER(c.c_int32)]),
    "decoder_choose_next": (None, [_P, _P, _SIZE, c.c_double, c.c_double, c.c_uint64, c.POINTER(c.c_int32)]),
    "decoder_forced": (None, [_P, _P, _SIZE, _COUNT]),
    "decoder_accept": (None, [_P, _P, _SIZE, _COUNT]),
    "decoder_validate": (None, [_P, _P, _SIZE, _COUNT]),
    "decoder_rollback": (None, [_P, _SIZE]),
    "decoder_seek": (None, [_P, _P, _SIZE, _COUNT]),
    "decoder_status": (c.c_int32, [_P]),
    "decoder_tokens": (None, [_P, _P, _SIZE, _COUNT]),
    "decoder_plan": (None, [_P, _OUT]),
    "decoder_explain": (None, [_P, _OUT]),
    "decoder_why": (None, [_P, _TEXT, _SIZE, _OUT]),
    "decoder_free": ("nothing", [_P]),
    "pool_new": (None, [c.c_uint32, _OUT]),
    "pool_free": ("nothing", [_P]),
    "batch_next": (None, [_P, _P, _SIZE, _P, c.c_uint32, _P, _P, _SIZE, _P]),
    "batch_fill_bitmask": (None, [_P, _P, _SIZE, _P, c.c_uint32, _P, _SIZE, _P]),
    "batch_fill_bias": (None, [_P, _P, _SIZE, _P, c.c_uint32, _P, _SIZE, _P]),
    "batch_seek": (None, [_P, _P, _SIZE, _P, _P, _P]),
    "batch_move": (None, [_P, _P, _SIZE, _P, _P, _P, _P]),
}


def _candidates() -> List[str]:
    """Where the library may be, best first."""
    named = os.environ.get(_VARIABLE)
    if named:
        return [named]
    folder = pathlib.Path(__file__).resolve().parent
    beside = [str(path) for path in (folder / "libmetactrl_c.so", folder / f"libmetactrl_c.so.{ABI_VERSION}") if path.exists()]
    return beside + [f"libmetactrl_c.so.{ABI_VERSION}", "libmetactrl_c.so"]


def _load() -> c.CDLL:
    reasons = []
    for file in _candidates():
        try:
            return c.CDLL(file)
        except OSError as error:
            reasons.append(str(error))
    raise ImportError(
        "libmetactrl_c cannot be loaded; install the wheel of this package, or set METACTRL_LIBRARY to the file "
        f"(docs/c-api.md says how it is built): {'; '.join(reasons)}"
    )


def _declare(library: c.CDLL) -> c.CDLL:
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, f"metactrl_{name}")
        function.restype = c.c_int32 if result is None else None if result == "nothing" else result
        function.argtypes = arguments + ([_OUT] if result is None else [])
    return library


library = _declare(_load())
if library.metactrl_abi_version() != ABI_VERSION:
    raise ImportError(
        f"libmetactrl_c has version {library.metactrl_abi_version()} of its interface, and this package needs {ABI_VERSION}"
    )
VERSION = library.metactrl_version().decode()


def call(name: str, *arguments: Any) -> None:
    """Calls a function that can fail."""
    error = c.c_void_p()
    status = getattr(library, f"metactrl_{name}")(*arguments, c.byref(error))
    if status == 0:
        return
    message = library.metactrl_error_message(error).decode("utf-8", "replace")
    details = library.metactrl_error_details(error).decode("utf-8", "replace")
    library.metactrl_error_free(error)
    raise make_error(status, message, details)


def make(name: str, *arguments: Any) -> c.c_void_p:
    """The handle that a function makes."""
    handle = c.c_void_p()
    call(name, *arguments, c.byref(handle))
    return handle


def text(name: str, *arguments: Any) -> bytes:
    handle = make(name, *arguments)
    try:
        return c.string_at(library.metactrl_text_data(handle), library.metactrl_text_size(handle))
    finally:
        library.metactrl_text_free(handle)


def read_json(name: str, *arguments: Any) -> Any:
    return json.loads(text(name, *arguments))


def defaults(kind: str, structure: Any) -> Any:
    options = structure()
    getattr(library, f"metactrl_{kind}_options_default")(c.byref(options))
    return options


class Owner:
    """A Python object that owns a handle. It is freed with the object, and at the latest when the interpreter ends."""

    _kind = ""

    def __init__(self, handle: c.c_void_p) -> None:
        self._handle = handle
        self._finalizer = weakref.finalize(self, getattr(library, f"metactrl_{self._kind}_free"), handle)

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled or copied")


def handle_of(owner: Any) -> Any:
    return None if owner is None else owner._handle
