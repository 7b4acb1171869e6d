"""The package by itself: what it reads, what it refuses, what may come and what is taken."""

import array
import contextlib
import ctypes
import gc
import io
import os
import random
import sys
import threading
import unittest
import unittest.mock

from support import LAMPS, NAN, ROOT, TABLETOP, byte_vocabulary, hostile_row, metactrl, plan_model, problems, task, token_model, word_vocabulary


class Tasks(unittest.TestCase):
    def test_what_a_task_has(self):
        found = task()
        self.assertEqual(found.name, "dishwasher")
        self.assertIn("dishwasher", found.objects)
        self.assertEqual(len(found.goals), 3)
        self.assertGreater(found.num_actions, 5)
        self.assertIn("dishwasher", found._repr_html_())
        same = metactrl.Task((TABLETOP / "domain.pddl").read_text(), (TABLETOP / "dishwasher.pddl").read_text())
        self.assertEqual(same.goals, found.goals)

    def test_mistakes_have_places(self):
        with self.assertRaises(metactrl.InputError) as caught:
            metactrl.Task("(define (domain d) (:predicates (p)) (:action a :effect (q)))", "(define (problem x) (:domain d) (:goal (r)))")
        self.assertGreater(len(caught.exception.diagnostics), 1)
        self.assertEqual(caught.exception.diagnostics[0].line, 1)
        self.assertIn("error:", str(caught.exception.diagnostics[0]))
        self.assertIsInstance(caught.exception, ValueError)

    def test_what_is_not_there(self):
        with self.assertRaises(metactrl.InputError):
            metactrl.Task.load("/no/such/domain.pddl", "/no/such/problem.pddl")
        with self.assertRaises(metactrl.ArgumentError):
            task_text = (TABLETOP / "domain.pddl").read_text()
            metactrl.Task(task_text, "", max_everything=3)

    def test_limits(self):
        with self.assertRaises(metactrl.MetactrlError):
            metactrl.Task.load(TABLETOP / "domain.pddl", TABLETOP / "dishwasher.pddl", max_ground_actions=1)
        stop = metactrl.Stop()
        stop.request()
        self.assertTrue(stop.requested)
        with self.assertRaises(metactrl.Stopped):
            metactrl.Constraint(task(), byte_vocabulary(), stop=stop)

    def test_validation_and_search(self):
        found = task()
        plan = found.search()
        self.assertTrue(found.validate(plan))
        self.assertTrue(metactrl.validate(found, "".join(f"{action}\n" for action in plan)))
        broken = found.validate(plan[1:])
        self.assertFalse(broken)
        self.assertIn("precondition", broken.reason)
        self.assertIn("✗", broken._repr_html_())
        self.assertIsNone(found.search(horizon=1))
        self.assertFalse(found.validate("this is no plan", "json"))
        with self.assertRaises(metactrl.InputError):
            found.validate("((")

    def test_formats(self):
        with self.assertRaises(metactrl.InputError) as caught:
            metactrl.Format("no such format")
        self.assertIn("sentences", str(caught.exception))
        with self.assertRaises(metactrl.InputError):
            metactrl.Format.parse("what is this")


class Vocabularies(unittest.TestCase):
    def test_encoding(self):
        vocabulary = byte_vocabulary()
        self.assertEqual(vocabulary.size, 259)
        self.assertEqual(vocabulary.end_of_turn, [256, 257])
        self.assertEqual(vocabulary.encode("ab", "context"), [97, 98])
        self.assertEqual(vocabulary.decode([97, 256, 98]), b"ab")
        self.assertNotEqual(vocabulary.fingerprint, byte_vocabulary(300).fingerprint)

    def test_a_tokenizer_that_fails(self):
        tokens = [bytes([byte]) for byte in range(256)] + [b""]
        for broken in (lambda text: 1 / 0, lambda text: None, lambda text: [1.5], lambda text: [2**40], lambda text: "ab"):
            with self.assertRaises(metactrl.TokenizerError) as caught:
                metactrl.Vocabulary(tokens, [256], broken)
            self.assertIsNotNone(caught.exception.__cause__)
        for wrong in (lambda text: [300], lambda text: [-1], lambda text: [5] * 100000):
            with self.assertRaises(metactrl.TokenizerError):
                metactrl.Vocabulary(tokens, [256], wrong)
        with self.assertRaises(metactrl.InputError):
            metactrl.Vocabulary(tokens, [256], lambda text: [ord("a")] * len(text))

    def test_a_tokenizer_that_fails_later(self):
        fail = []

        def encode(text):
            if fail:
                raise RuntimeError("no more")
            return list(text.encode())

        vocabulary = metactrl.Vocabulary([bytes([byte]) for byte in range(256)] + [b""], [256], encode)
        fail.append(True)
        with self.assertRaises(metactrl.TokenizerError) as caught:
            metactrl.Constraint(task(), vocabulary)
        self.assertIsInstance(caught.exception.__cause__, RuntimeError)

    def test_wrong_arguments(self):
        tokens = [bytes([byte]) for byte in range(256)]
        for ends in ([], [256], [-1], [2**40]):
            with self.assertRaises(metactrl.ArgumentError):
                metactrl.Vocabulary(tokens, ends)

    def test_callbacks_live_as_long_as_they_are_needed(self):
        from metactrl import vocabulary as module

        gc.collect()
        before = len(module._callbacks)
        decoder = metactrl.Decoder(metactrl.Constraint(task(), byte_vocabulary()))
        gc.collect()
        self.assertEqual(len(module._callbacks), before + 1)
        self.assertTrue(decoder.next()[0])
        del decoder
        gc.collect()
        self.assertEqual(len(module._callbacks), before)


class Decoders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.vocabulary = byte_vocabulary()
        cls.constraint = metactrl.Constraint(task(), cls.vocabulary, context="Plan:\n")

    def test_what_a_constraint_says(self):
        self.assertEqual(self.constraint.verdict, "solvable")
        self.assertEqual(self.constraint.info["tier"], "exact")
        self.assertIn("Task: Tidy up.", task().prompt("json", "Tidy up."))
        short = metactrl.Constraint(task(), self.vocabulary, horizon=2, fixed_horizon=True)
        self.assertEqual(short.verdict, "infeasible")
        with self.assertRaises(metactrl.Infeasible) as caught:
            metactrl.plan(short, lambda tokens: [0.0] * 259)
        self.assertEqual(caught.exception.verdict, "infeasible")

    def test_the_best_plan_known_is_told(self):
        self.assertEqual(self.constraint.info["best_plan"], task().find().best_plan)
        self.assertTrue(self.constraint.info["best_plan"]["shortest"])
        found = self.constraint.info["best_plan"]
        self.assertEqual((found["cost"], found["cost_at_least"], found["cheapest"]), (found["actions"], found["actions"], True))

    def test_goals_that_cannot_hold_together_are_dropped(self):
        domain = (
            "(define (domain d) (:requirements :negative-preconditions) (:predicates (p) (q) (r))"
            "(:action a :parameters () :precondition (not (q)) :effect (p))"
            "(:action b :parameters () :precondition (not (p)) :effect (q))"
            "(:action c :parameters () :effect (r)))"
        )
        either = metactrl.Task(domain, "(define (problem p) (:domain d) (:init) (:goal (and (p) (r) (q))))")
        none = either.find()
        self.assertEqual(none.verdict, "infeasible")
        self.assertIn("(p), (q)", none.why_infeasible[0])
        self.assertEqual(none.would_help[0], "without the goal (p)")
        with self.assertRaises(metactrl.Infeasible):
            metactrl.plan(either, lambda tokens: [0.0] * 259, self.vocabulary)
        plan = metactrl.plan(either, lambda tokens: [0.0] * 259, self.vocabulary, drop_goals=True)
        self.assertTrue(plan.valid)
        self.assertEqual(plan.decoder.constraint.goals_dropped, ["(q)"])
        self.assertEqual(plan.reason, "every step is legal and every goal but (q) holds at the end")
        self.assertEqual(either.validate("".join(f"{action}\n" for action in plan.actions)).unmet_goals, ["(q)"])

    def test_preferences_are_chosen_promised_and_judged(self):
        domain = (
            "(define (domain d) (:requirements :preferences) (:predicates (p) (q) (r))"
            "(:action a :parameters () :precondition (not (r)) :effect (p))"
            "(:action b :parameters () :effect (and (q) (r))))"
        )
        problem = (
            "(define (problem d) (:domain d) (:init)"
            "(:goal (and (q) (preference early (p)) (preference quiet (not (r)))))"
            "(:metric minimize (+ (* 5 (is-violated early)) (is-violated quiet))))"
        )
        wanted = metactrl.Task(domain, problem)
        judged = wanted.validate("(b)")
        self.assertTrue(judged.valid)
        self.assertEqual([one.satisfied for one in judged.preferences], [False, False])
        self.assertEqual((judged.preferences[0].name, judged.preferences[0].weight), ("early", 5))
        best = wanted.find()
        self.assertEqual([one.satisfied for one in best.preferences], [True, False])
        self.assertEqual((best.metric, best.metric_lower_bound), (1, 1))
        self.assertEqual(wanted.validate(best.actions).preferences, best.preferences)
        constraint = metactrl.Constraint(wanted, self.vocabulary)
        self.assertEqual(constraint.info["promised_preferences"], [0])
        # Whatever the model wishes, what was promised holds.
        for seed in range(5):
            draw = random.Random(seed)
            made = metactrl.plan(constraint, lambda tokens: [draw.random() for _ in range(259)])
            self.assertTrue(wanted.validate(made.actions).preferences[0].satisfied)

    def test_plans_that_take_time_become_schedules(self):
        domain = (
            "(define (domain d) (:requirements :durative-actions :typing) (:types machine) (:predicates (done ?m - machine))"
            "(:functions (time ?m - machine))"
            "(:durative-action work :parameters (?m - machine) :duration (= ?duration (time ?m)) :condition () :effect (at end (done ?m)))"
            "(:action ring :parameters () :effect ()))"
        )
        problem = (
            "(define (problem d) (:domain d) (:objects x y - machine) (:init (= (time x) 2) (= (time y) 1.5))"
            "(:goal (and (done x) (done y))) (:metric minimize (total-time)))"
        )
        timed = metactrl.Task(domain, problem)
        self.assertTrue(timed.has_durations)
        plan = metactrl.plan(timed, lambda tokens: [float(token == ord("x")) for token in range(259)], self.vocabulary, format="json")
        self.assertEqual([str(action) for action in plan.actions], ["(work x)", "(work y)"])
        later = plan.schedule()
        self.assertEqual(str(later), "0.000: (work x) [2.000]\n2.001: (work y) [1.500]\n")
        self.assertEqual((later.makespan, later.metric, later.overlaps, len(later)), (3.501, 3.501, [], 2))
        self.assertEqual(later.steps[1], metactrl.TimedAction(2.001, 1.5, metactrl.Action("work", ("y",))))
        early = plan.schedule("concurrent")
        self.assertEqual((early.makespan, early.metric, early.overlaps), (2, 2, [(0, 1)]))
        self.assertEqual([(step.start, step.end) for step in early.steps], [(0, 2), (0, 1.5)])
        self.assertIn("ends at 2.000", early._repr_html_())
        for same in (timed.schedule(plan.text, "json"), timed.schedule(plan), timed.schedule(plan.actions), timed.schedule(early)):
            self.assertEqual(same, later)
        # What takes no time has no bracket; a schedule is judged by its times.
        self.assertIn("0.000: (ring)\n", timed.schedule("(ring)").text)
        for one in (later, early, early.text):
            judged = timed.validate(one)
            self.assertTrue(judged)
            self.assertEqual(judged.makespan, 3.501 if one is later else 2)
        self.assertIsNone(timed.validate(plan).makespan)
        self.assertFalse(timed.validate(early.text.replace("[2.000]", "[2.500]")))
        for wrong in (lambda: timed.schedule("(rest)"), lambda: task().schedule([])):
            self.assertRaises(metactrl.InputError, wrong)
        for wrong in (lambda: timed.schedule(plan, kind="backwards"), lambda: timed.schedule(early, "pddl")):
            self.assertRaises(metactrl.ArgumentError, wrong)

    def test_a_schedule_keeps_the_durations_that_it_has(self):
        domain = (
            "(define (domain c) (:requirements :durative-actions :numeric-fluents :duration-inequalities) (:predicates (plugged) (done))"
            "(:functions (battery))"
            "(:durative-action charge :parameters () :duration (and (>= ?duration 2) (<= ?duration 9)) :condition (at start (plugged))"
            " :effect (and (at start (not (plugged))) (at end (increase (battery) ?duration))))"
            "(:durative-action go :parameters () :duration (= ?duration 3) :condition (at start (>= (battery) 5)) :effect (at end (done))))"
        )
        task = metactrl.Task(domain, "(define (problem p) (:domain c) (:init (plugged) (= (battery) 0)) (:goal (done)))")
        made = task.schedule(task.find().actions)
        self.assertEqual(made.text, "0.000: (charge) [5.000]\n5.001: (go) [3.000]\n")
        self.assertEqual(task.schedule(made), made)
        self.assertTrue(task.validate(made))

    def test_three_ways_to_ask_agree(self):
        decoder = metactrl.Decoder(self.constraint)
        draw = random.Random(3)
        while not decoder.finished:
            ids, weights = decoder.next()
            words = array.array("i", [7] * ((259 + 31) // 32))
            row = array.array("f", [1.0] * 259)
            decoder.fill_bitmask(words)
            decoder.fill_bias(row)
            self.assertEqual([i for i in range(259) if words[i // 32] >> (i % 32) & 1], ids)
            self.assertEqual([i for i in range(259) if row[i] > -float("inf")], ids)
            self.assertEqual([row[i] for i in ids], weights)
            self.assertEqual(decoder.would_accept([258]), 0)
            self.assertEqual(decoder.accept(draw.choice(ids)), 1)
        self.assertTrue(self.constraint.check(decoder.tokens))
        self.assertFalse(self.constraint.check(decoder.tokens[:-1]))

    def test_moving(self):
        decoder = metactrl.Decoder(self.constraint)
        run = decoder.forced()
        self.assertTrue(run)
        decoder.accept(*run)
        self.assertEqual(decoder.tokens, run)
        fork = decoder.clone()
        fork.accept(fork.next()[0][0])
        self.assertEqual(len(decoder.tokens) + 1, len(fork.tokens))
        self.assertTrue(decoder.seek(fork.tokens))
        self.assertFalse(decoder.seek([1, 2, 3]))
        self.assertTrue(decoder.lost)
        self.assertEqual(decoder.next(), ([], []))
        self.assertIsNone(decoder.choose([0.0] * 259))
        self.assertTrue(decoder.seek([]))
        self.assertFalse(decoder.lost)
        with self.assertRaises(metactrl.ArgumentError):
            decoder.rollback(-1)
        with self.assertRaises(TypeError):
            import copy

            copy.deepcopy(decoder)

    def test_why(self):
        decoder = metactrl.Decoder(self.constraint)
        no = decoder.why("(putin white_cup dishwasher)")
        self.assertFalse(no["allowed"])
        self.assertIn("precondition", no["reason"])
        self.assertTrue(decoder.why(metactrl.Action("open", ("dishwasher",)))["allowed"])
        with self.assertRaises(metactrl.InputError):
            decoder.why("((")

    def test_arrays_that_do_not_fit(self):
        decoder = metactrl.Decoder(self.constraint)
        for wrong in (array.array("d", [0] * 259), array.array("f", [0] * 12), bytes(4 * 259), "text", None, 5, [0.0] * 259):
            with self.assertRaises(metactrl.ArgumentError, msg=type(wrong)):
                decoder.fill_bias(wrong)
        with self.assertRaises(metactrl.ArgumentError):
            decoder.fill_bias(memoryview(array.array("f", [0] * 600))[::2])
        with self.assertRaises(metactrl.ArgumentError):
            decoder.fill_bitmask(array.array("i", [0] * 3))
        for wrong in ([], [0.0] * 12, None, "text", object(), ["a"] * 259):
            with self.assertRaises(metactrl.ArgumentError, msg=type(wrong)):
                decoder.choose(wrong)
        for wrong in (["a"], [1.5], [2**40], "ab", [None]):
            with self.assertRaises(metactrl.ArgumentError, msg=str(wrong)):
                decoder.seek(wrong)
        for options in ({"temperature": NAN}, {"temperature": -1}, {"top_p": 0}, {"top_p": 2}):
            with self.assertRaises(metactrl.ArgumentError):
                decoder.choose([0.0] * 259, **options)
        for options in ({"guidance": "none"}, {"bridge": "toll"}, {"candidate_luck": 1}):
            with self.assertRaises(metactrl.ArgumentError):
                metactrl.Decoder(self.constraint, **options)

    def test_batches(self):
        batch = metactrl.Batch(3)
        rows = [metactrl.Decoder(self.constraint) for _ in range(20)] + [None]
        draw = random.Random(5)
        tokens = [-1] * 21
        for _ in range(2000):
            listed = batch.next(rows, tokens, keep_ending=True)
            self.assertEqual(batch.errors, {})
            if all(row is None or row.finished for row in rows):
                break
            tokens = [draw.choice(ids) if ids else -1 for ids, _ in listed]
        for row, (ids, _) in zip(rows[:-1], listed):
            self.assertTrue(self.constraint.check(row.tokens))
            self.assertEqual(ids, [256, 257])
        sequences = [row.tokens[:7] if row else [] for row in rows]
        sequences[4] = [0, 0]
        self.assertEqual(batch.seek(rows, sequences), [True] * 4 + [False] + [True] * 16)
        block = (ctypes.c_float * 259 * 21)()
        counts = batch.fill_bias(rows, block)
        self.assertEqual(counts[4], 0)
        self.assertEqual(counts[0], sum(value > -float("inf") for value in block[0]))
        words = (ctypes.c_int32 * 9 * 21)()
        self.assertEqual(batch.fill_bitmask(rows, words), counts)
        with self.assertRaises(metactrl.ArgumentError):
            batch.fill_bias(rows, (ctypes.c_float * 259 * 20)())
        with self.assertRaises(metactrl.ArgumentError):
            batch.next(rows, [1, 2])
        with self.assertRaises(metactrl.ArgumentError):
            batch.next([rows[0], rows[0]])

    def test_a_process_that_was_forked(self):
        """Has none of the threads, and works and ends all the same."""
        batch = metactrl.Batch(3)
        rows = [metactrl.Decoder(self.constraint) for _ in range(16)]
        before = batch.next(rows)
        child = os.fork()
        if child == 0:
            same = batch.next(rows) == before
            del batch
            gc.collect()
            os._exit(0 if same else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(batch.next(rows), before)

    def test_other_threads_work_meanwhile(self):
        """While the library compiles. Threads here give the interpreter's lock away by themselves nowhere between the moment when the other one may go on and the
        call's end, so that it does only if the call lets go of the lock: then it ends the call, which would go on for long."""
        names = " ".join(f"lamp{number}" for number in range(30))
        goal = " ".join(f"(lit {name})" for name in names.split())
        dark = metactrl.Task(LAMPS, f"(define (problem p) (:domain lamps) (:objects {names} - lamp) (:init) (:goal (and {goal})))")
        vocabulary = metactrl.Vocabulary([bytes([byte]) for byte in range(256)] + [b""], [256])
        stop, waits, library_call = metactrl.Stop(), threading.Lock(), metactrl._library.call
        waits.acquire()

        def other():
            with waits:
                stop.request()

        def call(name, *arguments):
            if name == "constraint_compile":
                waits.release()
            library_call(name, *arguments)

        thread, interval = threading.Thread(target=other), sys.getswitchinterval()
        sys.setswitchinterval(1000)
        try:
            thread.start()
            with unittest.mock.patch.object(metactrl._library, "call", call), self.assertRaises(metactrl.Stopped):
                metactrl.Constraint(dark, vocabulary, stop=stop, exact_states=2**40, exact_bytes=2**29)
        finally:
            sys.setswitchinterval(interval)
            thread.join()

    def test_two_threads_and_one_decoder(self):
        decoder = metactrl.Decoder(self.constraint)
        seen = set()

        def use():
            for _ in range(300):
                try:
                    decoder.seek([])
                    decoder.forced()
                    seen.add("served")
                except metactrl.BusyError:
                    seen.add("busy")

        threads = [threading.Thread(target=use) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertIn("served", seen)
        self.assertLessEqual(seen, {"served", "busy"})


class Trained(unittest.TestCase):
    def test_what_a_model_says_of_itself(self):
        plans, tokens = plan_model(), token_model()
        self.assertEqual((plans.level, plans.info["hidden"], plans.info["slots"]), ("meta", 4, 6))
        self.assertIn("putin", plans.info["actions"])
        self.assertEqual((tokens.level, tokens.info["symbols"]), ("token", 259))
        self.assertIn("plans", repr(plans))

    def test_weights_rank_what_is_allowed(self):
        vocabulary = byte_vocabulary()
        trained = metactrl.Constraint(task(), vocabulary, horizon=12, hmm=plan_model())
        plain = metactrl.Constraint(task(), vocabulary, horizon=12)
        self.assertTrue(trained.info["weight_rule"].startswith("trained"), trained.info)
        decoders = [
            metactrl.Decoder(trained, guidance="trained"),
            metactrl.Decoder(trained, guidance="trained", bridge="hmm", token_hmm=token_model()),
            metactrl.Decoder(trained, guidance="mask"),
            metactrl.Decoder(plain, guidance="uniform"),
        ]
        differ = 0
        while not decoders[0].finished:
            ids, weights = zip(*(decoder.next() for decoder in decoders))
            self.assertTrue(all(one == ids[0] for one in ids))
            self.assertTrue(all(weight == weight and abs(weight) < 1e30 for row in weights for weight in row))
            differ += weights[0] != weights[3]
            for decoder in decoders:
                self.assertEqual(decoder.accept(ids[0][len(ids[0]) // 2]), 1)
        self.assertGreater(differ, 3)
        self.assertTrue(trained.check(decoders[0].tokens))

    def test_a_plan(self):
        rows = lambda tokens: [0.0] * 259  # noqa: E731
        plan = metactrl.plan(task(), rows, byte_vocabulary(), guidance="trained", hmm=plan_model(), bridge="hmm", token_hmm=token_model())
        self.assertTrue(plan)
        self.assertTrue(plan.explain())

    def test_what_is_wrong_is_said(self):
        vocabulary = byte_vocabulary()
        with self.assertRaises(metactrl.InputError):
            metactrl.Hmm("/no/such/file.hmm")
        with self.assertRaises(metactrl.InputError):
            metactrl.Hmm(TABLETOP / "domain.pddl")
        with self.assertRaisesRegex(metactrl.InputError, "model of tokens"):
            metactrl.Constraint(task(), vocabulary, hmm=token_model())
        with self.assertRaises(TypeError):
            metactrl.Constraint(task(), vocabulary, hmm="tabletop.hmm")
        plain = metactrl.Constraint(task(), vocabulary, horizon=12)
        trained = metactrl.Constraint(task(), vocabulary, horizon=12, hmm=plan_model())
        with self.assertRaisesRegex(metactrl.InputError, "without a trained model"):
            metactrl.Decoder(plain, guidance="trained")
        with self.assertRaisesRegex(metactrl.InputError, "with a trained model"):
            metactrl.Decoder(trained, guidance="uniform")
        with self.assertRaisesRegex(metactrl.InputError, "model of plans"):
            metactrl.Decoder(plain, bridge="hmm", token_hmm=plan_model())
        with self.assertRaises(metactrl.InputError):
            metactrl.Decoder(plain, bridge="hmm")
        with self.assertRaises(metactrl.InputError):
            other = metactrl.Constraint(task(), word_vocabulary("open the dishwasher", 1), horizon=12)
            metactrl.Decoder(other, bridge="hmm", token_hmm=token_model())


class Plans(unittest.TestCase):
    def test_a_plan_and_its_trace(self):
        found = task()
        calls = []

        def logits(tokens):
            calls.append(list(tokens))
            return [0.0] * 259

        plan = metactrl.plan(found, logits, byte_vocabulary(), format="json")
        self.assertTrue(plan)
        self.assertEqual(plan.model_calls, len(calls))
        self.assertGreater(plan.forced_tokens, plan.model_calls)
        self.assertTrue(found.validate(plan.text, "json"))
        self.assertTrue(found.validate(plan))
        self.assertIn("✓", plan._repr_html_())
        trace = metactrl.explain(plan)
        self.assertEqual(len(trace), len(plan.actions))
        self.assertIn("legal actions", trace._repr_html_())
        self.assertIn("allowed", str(trace))

    def test_a_trace_shows_goals_and_wishes(self):
        """The goals that are left before every step, those that a step reaches, and where the model wanted another token."""
        found = task()
        likes = ord("<")  # which no plan has
        for row in ([float(token == likes) for token in range(259)], array.array("f", [float(token == likes) for token in range(259)])):
            plan = metactrl.plan(found, lambda tokens, row=row: row, byte_vocabulary())
            trace = plan.explain()
            goals = trace.open_goals
            self.assertEqual(len(goals), len(plan.actions) + 1)
            self.assertEqual((sorted(goals[0]), goals[-1]), (sorted(found.validate([]).unmet_goals), []))
            self.assertGreater(len(goals[0]), 0)
            wishes = [token for step in trace.steps for token in step["tokens"] if "wanted" in token]
            self.assertEqual(len(wishes), plan.model_calls)
            self.assertEqual({(token["wanted"]["token"], token["wanted"]["text"], token["forced"]) for token in wishes}, {(likes, "<", False)})
            self.assertEqual([plan.tokens[place] for place in sorted(plan.wanted)], [token["token"] for token in wishes])
            shown = trace._repr_html_()
            self.assertEqual(shown.count("the model wanted &#x27;&lt;&#x27;"), len(wishes))
            for goal in goals[0]:
                self.assertIn(f"<li>{goal}</li>", shown)
                self.assertEqual(shown.count(f"✓ {goal}"), sum(goal in before and goal not in after for before, after in zip(goals, goals[1:])))
            self.assertIn("more behind it, weight ", shown)
        for row in ([float("nan")] * 259, [0.0] * 259 + ["no number"]):
            plan = metactrl.plan(found, lambda tokens, row=row: row, byte_vocabulary())
            self.assertEqual(len(plan.wanted), 0 if row[0] != row[0] else plan.model_calls)
            self.assertIn("goals left", plan.explain()._repr_html_())
        decoder = metactrl.Decoder(plan.decoder.constraint)
        self.assertEqual(len(decoder.explain().open_goals), 1)
        self.assertIn("left", decoder.explain()._repr_html_())

    def test_a_trace_says_what_was_given_up(self):
        """Where not all goals can be reached together."""
        domain = "(define (domain d) (:predicates (p) (q) (r)) (:action a :parameters () :effect (p)) (:action b :parameters () :effect (q)))"
        found = metactrl.Task(domain, "(define (problem x) (:domain d) (:goal (and (p) (r))))")
        plan = metactrl.plan(found, lambda tokens: [0.0] * 259, byte_vocabulary(), drop_goals=True)
        self.assertEqual(plan.decoder.constraint.goals_dropped, ["(r)"])
        self.assertEqual(plan.explain().open_goals[-1], ["(r)"])
        self.assertIn("<li>(r) (given up)</li>", plan.explain()._repr_html_())

    def test_the_example_of_the_manual(self):
        page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
        example = page.split("```python\n")[1].split("```")[0]
        shown = io.StringIO()
        before = os.getcwd()
        os.chdir(ROOT)
        try:
            with contextlib.redirect_stdout(shown):
                exec(compile(example, "docs/python.md", "exec"), {})
        finally:
            os.chdir(before)
        self.assertIn("(putin", shown.getvalue())
        self.assertTrue(shown.getvalue().strip().endswith("True"))

    def test_what_is_shown_is_escaped(self):
        domain = "(define (domain d) (:predicates (done ?x)) (:action a&b :parameters (?x) :effect (done ?x)))"
        found = metactrl.Task(domain, "(define (problem p) (:domain d) (:objects <b>x) (:goal (done <b>x)))")
        plan = metactrl.plan(found, lambda tokens: [0.0] * 259, byte_vocabulary())
        wish = metactrl.plan(found, lambda tokens: [float(token == ord('"')) for token in range(259)], byte_vocabulary()).explain()
        shown = plan._repr_html_() + plan.explain()._repr_html_() + found._repr_html_() + wish._repr_html_()
        self.assertNotIn("<b>x", shown)
        self.assertEqual(shown.count('wanted "'), 0)
        self.assertIn("&lt;b&gt;x", shown)

    def test_equal_seeds_draw_equally(self):
        constraint = metactrl.Constraint(task(), byte_vocabulary())
        draws = [metactrl.plan(constraint, lambda tokens: [0.0] * 259, temperature=1, seed=seed).text for seed in (1, 1, 2, 3, 4)]
        self.assertEqual(draws[0], draws[1])
        self.assertGreater(len(set(draws)), 1)

    def test_hostile_logits_break_nothing(self):
        """An engine with rows as no model gives them, which also offers tokens that may not come and seeks where nothing is."""
        made = refused = 0
        for number, problem in enumerate(problems()):
            found = task(problem)
            text = "".join(f"{action}\n" for action in found.search())
            for format in ("pddl", "json", "sentences"):
                for vocabulary in (byte_vocabulary(), word_vocabulary(text, number)):
                    trained = number % 2 == 1
                    hmm = plan_model() if trained else None
                    constraint = metactrl.Constraint(found, vocabulary, format, context="Plan:\n", horizon=20, hmm=hmm)
                    size = vocabulary.size
                    for seed in range(8):
                        draw = random.Random(seed)
                        decoder = metactrl.Decoder(constraint, guidance=draw.choice(("mask", "trained" if trained else "uniform")))
                        while not decoder.finished:
                            wrong = draw.randrange(size + 50)
                            if wrong not in decoder.next()[0]:
                                self.assertEqual(decoder.accept(wrong), 0)
                                refused += 1
                            if draw.random() < 0.05:
                                tokens = decoder.tokens
                                self.assertFalse(decoder.seek(tokens[: draw.randrange(len(tokens) + 1)] + [size + 3]))
                                self.assertTrue(decoder.seek(tokens))
                            run = decoder.forced() if draw.random() < 0.8 else []
                            token = decoder.choose(hostile_row(size, draw), temperature=draw.choice((0, 1)), seed=seed)
                            self.assertIsNotNone(token)
                            run = run or [token]
                            self.assertEqual(decoder.accept(*run), len(run))
                        self.assertTrue(constraint.check(decoder.tokens), decoder.text)
                        self.assertTrue(found.validate(decoder.text, format), decoder.text)
                        made += 1
        self.assertGreaterEqual(made, 300)
        self.assertGreater(refused, made)


if __name__ == "__main__":
    unittest.main(verbosity=2)
