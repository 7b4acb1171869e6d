#!/usr/bin/env python3
"""A program that plans through libmetactrl_c with nothing but ctypes: what any language with a foreign-function interface can do.

    tests/c/ctypes_test.py LIBRARY DOMAIN PROBLEM
"""

import ctypes
import json
import sys
import threading

c = ctypes
ENCODE = c.CFUNCTYPE(c.c_int64, c.c_void_p, c.POINTER(c.c_char), c.c_size_t, c.POINTER(c.c_int32), c.c_size_t)
SIZE = 257
END = 256


class VocabularyOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t), ("num_tokens", c.c_size_t), ("bytes", c.c_char_p), ("offsets", c.POINTER(c.c_uint64)),
        ("end_of_turn", c.POINTER(c.c_int32)), ("num_end_of_turn", c.c_size_t), ("control_bytes", c.c_char_p),
        ("control_offsets", c.POINTER(c.c_uint64)), ("control_strips", c.POINTER(c.c_uint8)), ("num_controls", c.c_size_t),
        ("encode", ENCODE), ("user", c.c_void_p), ("release", c.c_void_p), ("name", c.c_char_p),
    ]


class Library:
    def __init__(self, file):
        self.library = c.CDLL(file)
        for name in ("error_message", "text_data"):
            getattr(self.library, f"metactrl_{name}").restype = c.c_char_p
            getattr(self.library, f"metactrl_{name}").argtypes = [c.c_void_p]
        for name in ("error", "text", "task", "format", "vocabulary", "constraint", "decoder"):
            getattr(self.library, f"metactrl_{name}_free").argtypes = [c.c_void_p]
        self.library.metactrl_decoder_status.argtypes = [c.c_void_p]

    def call(self, name, *arguments):
        error = c.c_void_p()
        status = getattr(self.library, f"metactrl_{name}")(*arguments, c.byref(error))
        if status != 0:
            message = self.library.metactrl_error_message(error).decode()
            self.library.metactrl_error_free(error)
            raise RuntimeError(f"{name}: {status}: {message}")

    def make(self, name, *arguments):
        handle = c.c_void_p()
        self.call(name, *arguments, c.byref(handle))
        return handle

    def json(self, name, *arguments):
        text = self.make(name, *arguments)
        value = json.loads(self.library.metactrl_text_data(text).decode())
        self.library.metactrl_text_free(text)
        return value


def defaults_of_an_older_program(library):
    """Options of a constraint, as a program has them that was linked when they had 96 bytes: it has no room for more."""
    find = c.CDLL(None).dlvsym
    find.restype, find.argtypes = c.c_void_p, [c.c_void_p, c.c_char_p, c.c_char_p]
    place = find(library._handle, b"metactrl_constraint_options_default", b"METACTRL_1")
    assert place, "older programs do not find what they call"
    room = (c.c_uint8 * 128)(*[0xA5] * 128)
    c.CFUNCTYPE(None, c.c_void_p)(place)(room)
    assert bytes(room[96:]) == b"\xa5" * 32, "what lies behind the options was written"
    assert int.from_bytes(bytes(room[:8]), sys.byteorder) == 96
    return room


def encode(_user, text, size, ids, capacity):
    for i in range(min(size, capacity)):
        ids[i] = text[i][0]
    return size


def main():
    file, domain, problem = sys.argv[1:]
    library = Library(file)
    task = library.make("task_load", domain.encode(), problem.encode(), None, None)
    plan_format = library.make("format_builtin", b"pddl")
    callback = ENCODE(encode)
    options = VocabularyOptions()
    library.library.metactrl_vocabulary_options_default(c.byref(options))
    assert options.struct_size == c.sizeof(options), "the struct is not laid out as in the header"
    options.num_tokens = SIZE
    options.bytes = bytes(range(256))
    options.offsets = (c.c_uint64 * (SIZE + 1))(*range(257), 256)
    options.end_of_turn = (c.c_int32 * 1)(END)
    options.num_end_of_turn = 1
    options.encode = callback
    # ctypes ends a char pointer at its first NUL, which is the first byte here: pass the place instead.
    blob = (c.c_char * 256).from_buffer_copy(bytes(range(256)))
    c.cast(c.byref(options, VocabularyOptions.bytes.offset), c.POINTER(c.c_void_p))[0] = c.addressof(blob)
    vocabulary = library.make("vocabulary_new", c.byref(options))
    older = defaults_of_an_older_program(library.library)
    library.library.metactrl_constraint_free(library.make("constraint_compile", task, plan_format, vocabulary, older, None))
    constraint = library.make("constraint_compile", task, plan_format, vocabulary, None, None)

    def plan(results, number):
        decoder = library.make("decoder_new", constraint, None, None)
        ids = (c.c_int32 * SIZE)()
        count = c.c_size_t()
        taken = c.c_size_t()
        tokens = []
        while not library.library.metactrl_decoder_status(decoder) & 1:
            library.call("decoder_next", decoder, ids, None, SIZE, c.byref(count))
            token = ids[(len(tokens) * 7 + number) % count.value]
            library.call("decoder_accept", decoder, (c.c_int32 * 1)(token), 1, c.byref(taken))
            assert taken.value == 1
            tokens.append(token)
        answer = library.json("constraint_check", constraint, (c.c_int32 * len(tokens))(*tokens), len(tokens), None)
        assert answer["valid"], answer
        judged = library.json("task_validate", task, plan_format, answer["text"].encode(), len(answer["text"].encode()), None)
        assert judged["valid"] and judged["actions"] == answer["actions"], judged
        results.append(answer["text"])
        library.library.metactrl_decoder_free(decoder)

    results = []
    threads = [threading.Thread(target=plan, args=(results, number)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8, results
    try:
        library.make("task_load", b"/no/such/file", b"", None, None)
    except RuntimeError as error:
        assert "/no/such/file" in str(error)
    else:
        raise AssertionError("a file that is not there was read")
    for name, handle in (("constraint", constraint), ("vocabulary", vocabulary), ("format", plan_format), ("task", task)):
        getattr(library.library, f"metactrl_{name}_free")(handle)
    print(f"{len(set(results))} different plans in 8 threads")


if __name__ == "__main__":
    main()
