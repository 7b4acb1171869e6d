"""Numbers that do not fit: an ArgumentError that names the argument, from every call that takes one, and never what ctypes would make of them."""

import contextlib
import decimal
import fractions
import unittest

from support import INF, NAN, TABLETOP, byte_vocabulary, metactrl, needs, task

SIZE = 259
HUGE = (2**64, 2**70, 10**400, -1, -(2**63), -(10**400))
NO_NUMBERS = (None, "3", b"3", [], [3], {}, object(), 1j)
NOT_WHOLE = (True, False, 1.0, 1.5, NAN, INF, -INF, fractions.Fraction(3), decimal.Decimal(3)) + NO_NUMBERS
NOT_REAL = (True, NAN, 10**400, decimal.Decimal("NaN")) + NO_NUMBERS


class Numbers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.task, cls.vocabulary = task(), byte_vocabulary(SIZE)
        cls.constraint = metactrl.Constraint(cls.task, cls.vocabulary)
        cls.decoder = metactrl.Decoder(cls.constraint)
        cls.texts = (TABLETOP / "domain.pddl").read_text(), (TABLETOP / "dishwasher.pddl").read_text()

    @contextlib.contextmanager
    def refused(self, name, value):
        try:
            yield
        except metactrl.ArgumentError as error:
            self.assertIn(name, str(error), f"{value!r:.40}")
            self.assertLess(len(str(error)), 200)
        except Exception as error:
            self.fail(f"{name}={value!r:.40}: {type(error).__name__}: {error}")
        else:
            self.fail(f"{name}={value!r:.40} was taken")

    def every_whole(self):
        """What takes a whole number: its name, and a call with one."""
        for name in ("max_ground_actions", "max_ground_facts", "max_work"):
            yield name, lambda value, name=name: metactrl.Task(*self.texts, **{name: value})
            yield name, lambda value, name=name: metactrl.Task.load(TABLETOP / "domain.pddl", TABLETOP / "dishwasher.pddl", **{name: value})
        for name in ("exact_states", "exact_bytes", "search_states", "search_bytes", "search_work", "horizon"):
            yield name, lambda value, name=name: metactrl.Constraint(self.task, self.vocabulary, **{name: value})
        for name in ("candidate_states", "candidate_bytes", "candidate_work", "horizon"):
            yield name, lambda value, name=name: metactrl.Decoder(self.constraint, **{name: value})
        yield "horizon", self.task.find
        yield "horizon", self.task.search
        yield "horizon", lambda value: metactrl.plan(self.task, lambda tokens: [0.0] * SIZE, self.vocabulary, horizon=value)
        yield "seed", lambda value: self.decoder.choose([0.0] * SIZE, seed=value)
        yield "seed", lambda value: metactrl.plan(self.constraint, lambda tokens: [0.0] * SIZE, seed=value)
        yield "tokens", self.decoder.rollback
        yield "threads", metactrl.Batch

    def every_real(self):
        yield "seconds", metactrl.Stop().after
        yield "temperature", lambda value: self.decoder.choose([0.0] * SIZE, temperature=value)
        yield "top_p", lambda value: self.decoder.choose([0.0] * SIZE, top_p=value)
        for name in ("per_action", "per_cost"):
            yield name, lambda value, name=name: metactrl.Decoder(self.constraint, **{name: value})

    def test_whole_numbers(self):
        for name, call in self.every_whole():
            for value in HUGE + NOT_WHOLE:
                with self.refused(name, value):
                    call(value)
        for value in HUGE + tuple(value for value in NOT_WHOLE if value is not None):
            with self.refused("slack", value):
                metactrl.Constraint(self.task, self.vocabulary, slack=value)

    def test_numbers(self):
        for name, call in self.every_real():
            for value in NOT_REAL + (-1, -INF):
                with self.refused(name, value):
                    call(value)
        metactrl.Stop().after(INF)
        self.decoder.choose([0.0] * SIZE, temperature=fractions.Fraction(1, 2))

    def test_token_ids(self):
        batch = metactrl.Batch(1)
        calls = (
            self.decoder.seek, self.decoder.would_accept, lambda ids: self.decoder.accept(*ids), self.vocabulary.decode, self.constraint.check,
            lambda ids: batch.seek([self.decoder], [ids]), lambda ids: batch.next([self.decoder], ids), lambda ids: metactrl.Vocabulary([b"a"], ids),
        )
        for call in calls:
            for value in (2**31, -(2**31) - 1, 2**70, 10**400) + NOT_WHOLE:
                with self.refused("token id", value):
                    call([value])
        for wrong in (b"ab", "ab", {1: 2}, 3, None):
            for call in (self.decoder.seek, self.decoder.would_accept):
                with self.refused("token ids", wrong):
                    call(wrong)

    def test_logits(self):
        for value in (10**400, "x", None, [1.0]):
            with self.refused("row of logits", value):
                self.decoder.choose([value] * SIZE)
        for value in (10**400, None):
            with self.refused("numbers", value):
                metactrl.arrays.memory_of([value], "float32")

    def test_what_fits_is_taken(self):
        """As it is: the bounds themselves, and whole numbers of other libraries."""
        metactrl.Constraint(self.task, self.vocabulary, exact_states=2**64 - 1, search_work=2**64 - 1, horizon=20, slack=0)
        metactrl.Decoder(self.constraint, candidate_work=2**64 - 1, horizon=1_000_000)
        self.assertIsNotNone(self.task.search(horizon=2**32 - 1))
        for seed in (0, 2**64 - 1):
            self.decoder.choose([0.0] * SIZE, seed=seed, temperature=1)

        class Whole:
            def __index__(self):
                return 7

        self.assertEqual(self.decoder.would_accept([Whole()]), 0)

    @needs("torch", "PyTorch")
    def test_beams(self):
        from metactrl.transformers import LogitsProcessor, generate

        for value in (0,) + HUGE + NOT_WHOLE:
            with self.refused("num_beams", value):
                LogitsProcessor(self.constraint, num_beams=value)
            with self.refused("num_beams", value):
                generate(None, None, self.constraint, num_beams=value)

    @needs("numpy", "NumPy")
    def test_numpy(self):
        import numpy

        self.assertEqual(self.decoder.would_accept(numpy.array([7], dtype=numpy.uint8)), 0)
        self.decoder.choose([0.0] * SIZE, seed=numpy.uint64(2**64 - 1), temperature=numpy.float32(0.5))
        for value in (numpy.bool_(True), numpy.float32(1), numpy.array([1, 2]), numpy.int64(-1)):
            with self.refused("seed", value):
                self.decoder.choose([0.0] * SIZE, seed=value)
        for value in (numpy.array([True]), numpy.array([1.0]), numpy.array([[1]]), numpy.array([2**40]), numpy.array(3)):
            with self.refused("token id", value):
                self.decoder.seek(value)


if __name__ == "__main__":
    unittest.main(verbosity=2)
