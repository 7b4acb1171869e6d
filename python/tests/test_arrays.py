"""Other people's arrays: their memory is used as it is, and what does not fit is an exception."""

import ctypes
import unittest

from support import byte_vocabulary, metactrl, needs, task

SIZE = 259


def decoder():
    return metactrl.Decoder(metactrl.Constraint(task(), byte_vocabulary(SIZE)))


class DLPack:
    """What speaks DLPack and nothing else: a block of C memory, described as the protocol says."""

    def __init__(self, values, bits=32, code=2, device=1, stride=1):
        self.block = (ctypes.c_float * len(values))(*values)
        self.device = device
        self.shape = (ctypes.c_int64 * 1)(len(values) // stride)
        self.strides = (ctypes.c_int64 * 1)(stride)

        class Tensor(ctypes.Structure):
            _fields_ = [
                ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
            ]

        self.tensor = Tensor(
            ctypes.addressof(self.block), device, 0, 1, code, bits, 1, ctypes.addressof(self.shape), ctypes.addressof(self.strides), 0, None, None
        )

    def __dlpack_device__(self):
        return self.device, 0

    def __dlpack__(self, **_options):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.tensor), b"dltensor", None)


class Arrays(unittest.TestCase):
    def test_dlpack(self):
        made = decoder()
        row = DLPack([5.0] * SIZE)
        made.fill_bias(row)
        ids, weights = made.next()
        self.assertEqual([i for i in range(SIZE) if row.block[i] > -float("inf")], ids)
        self.assertEqual([row.block[i] for i in ids], weights)
        for wrong in (DLPack([0] * SIZE, bits=64), DLPack([0] * SIZE, code=1), DLPack([0] * SIZE, device=2), DLPack([0] * 2 * SIZE, stride=2)):
            with self.assertRaises(metactrl.ArgumentError):
                made.fill_bias(wrong)

    @needs("numpy", "NumPy")
    def test_numpy(self):
        import numpy

        made = decoder()
        rows = numpy.ones((2, SIZE), dtype=numpy.float32)
        made.fill_bias(rows[1])
        self.assertTrue((rows[0] == 1).all())
        ids, weights = made.next()
        self.assertEqual(numpy.flatnonzero(numpy.isfinite(rows[1])).tolist(), ids)
        words = numpy.zeros((SIZE + 31) // 32, dtype=numpy.int32)
        made.fill_bitmask(words)
        self.assertEqual(numpy.flatnonzero(numpy.unpackbits(words.view(numpy.uint8), bitorder="little")).tolist(), ids)
        batch = metactrl.Batch(2)
        self.assertEqual(batch.fill_bias([made, None], rows), [len(ids), 0])
        frozen = numpy.zeros(SIZE, dtype=numpy.float32)
        frozen.setflags(write=False)
        for wrong in (numpy.zeros(SIZE), numpy.zeros(SIZE, dtype=numpy.float16), rows.T, numpy.zeros(2 * SIZE, dtype=numpy.float32)[::2], frozen):
            with self.assertRaises(metactrl.ArgumentError):
                made.fill_bias(wrong)
        for wrong in (rows, numpy.zeros(SIZE, dtype=numpy.int64), numpy.zeros(3), numpy.zeros(())):
            with self.assertRaises(metactrl.ArgumentError):
                made.choose(wrong)
        for dtype in (numpy.float16, numpy.float32, numpy.float64):
            logits = numpy.full(SIZE, numpy.nan, dtype=dtype)
            self.assertIn(made.choose(logits), ids)
        self.assertTrue(made.seek(numpy.array([], dtype=numpy.int64)))
        self.assertEqual(made.would_accept(numpy.array(ids[:1])), 1)

    @needs("torch", "PyTorch")
    def test_torch(self):
        import torch

        made = decoder()
        rows = torch.ones((2, SIZE), dtype=torch.float32)
        made.fill_bias(rows[1])
        ids, _ = made.next()
        self.assertEqual(torch.isfinite(rows[1]).nonzero().flatten().tolist(), ids)
        self.assertTrue(bool((rows[0] == 1).all()))
        for wrong in (torch.zeros(SIZE, dtype=torch.float64), torch.zeros(SIZE, dtype=torch.bfloat16), rows.t(), torch.zeros(3)):
            with self.assertRaises(metactrl.ArgumentError):
                made.fill_bias(wrong)
        for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64):
            logits = torch.full((SIZE,), float("nan"), dtype=dtype)
            self.assertIn(made.choose(logits), ids)
        for wrong in (rows, torch.zeros(SIZE, dtype=torch.long), torch.zeros(4)):
            with self.assertRaises(metactrl.ArgumentError):
                made.choose(wrong)
        self.assertEqual(made.would_accept(torch.tensor(ids[:1])), 1)
        plan = metactrl.plan(made.constraint, lambda tokens: torch.randn(SIZE), temperature=1)
        self.assertTrue(plan)


if __name__ == "__main__":
    unittest.main(verbosity=2)
