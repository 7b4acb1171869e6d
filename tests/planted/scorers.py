#!/usr/bin/env python3
"""Plants wrong rules in the benchmarks' scorers and looks whether what others recorded notices them.

    scorers.py write SOURCES OUT     writes a copy of each file that a rule is planted in, and planted.h
    scorers.py run PROGRAM           starts PROGRAM without a planted rule, then with each in turn

The copies are compiled into PROGRAM (planted_scorers) in the place of the files. A rule is asleep until METACTRL_PLANTED has its number, so one build has all
of them. PROGRAM runs the tests that hold the scorers against verdicts of the benchmarks' own evaluators: on the excerpts that ship, and for the last rules on all that was recorded, where that is (METACTRL_DATA).
`run` succeeds when PROGRAM passes with no rule planted and a test of it fails with each; a crash would be no merit of the tests.
"""

import os
import pathlib
import subprocess
import sys

BEHAVIOR, VIRTUALHOME, HELP = ("benchmarks/behavior/executor.cc", "benchmarks/virtualhome/executor_actions.cc", "benchmarks/watch_and_help/executor.cc")
SHARED = "benchmarks/virtualhome/executor.cc"
# What is wrong, where, a text of the file that stands there once with the rule between brackets, and what it becomes ("" for a statement).
PLANTED = [
    ("what is held is grasped again", BEHAVIOR, "if ([[state.held(hand) == o || state.held(other(hand)) == o]])", "false"),
    ("a full hand grasps", BEHAVIOR, 'if ([[state.held(hand) != kNothing]]) return fail(ErrorClass::kMissingStep, "the hand holds', "false"),
    ("hands reach into what is closed", BEHAVIOR, "if ([[state.is_not(p, Property::kOpen) && state.holding(child) == Holding::kInside]])", "false"),
    ("big things fit into small ones", BEHAVIOR, "if ([[scene[x].volume > scene[o].volume]]) return", "false"),
    ("things are put into what is closed", BEHAVIOR, "kTooBigInside, x, o);\n    if ([[state.is_not(o, Property::kOpen)]])", "false"),
    ("no hand need be free", BEHAVIOR, "if ([[state.both_hands_full()]]) return", "false"),
    ("what is done is done again", BEHAVIOR, "if ([[state.is(o, property) == value]])", "false"),
    ("slicing needs no knife", BEHAVIOR, "if ([[!any_held(state, [&](ObjectId x) { return state.has(x, Property::kSlicer); })]])", "false"),
    ("soaking needs no water", BEHAVIOR, "if ([[!in_water]]) return", "false"),
    ("a dry cloth takes stains", BEHAVIOR, "[[state.has(x, Property::kCleaningTool) && state.is(x, Property::kSoaked)]]", "state.has(x, Property::kCleaningTool)"),
    ("what is put down stays in the hand", BEHAVIOR, "put_on(x, o);\n      [[return state_.hold(action.hand, kNothing);]]\n    case Verb::kPlaceInside", "return;"),
    ("what is grasped stays where it was", BEHAVIOR, "[[state_.detach(object);]]\n  state_.hold(hand, object);", ""),
    ("everything is near", SHARED, "if ([[is_near(x)]]) return std::nullopt;", "true"),
    ("what is not held is put", SHARED, "if ([[holds(x)]]) return std::nullopt;", "true"),
    ("hands are never full", SHARED, "if ([[free_hand()]]) return std::nullopt;", "true"),
    ("a wrong order is a missing step", SHARED, "if ([[before]]) {\n    result.outcome", "false"),
    ("everything can be faced", SHARED, "if ([[faces(x)]]) return std::nullopt;", "true"),
    ("everything is grabbed", VIRTUALHOME, 'if (Check failed = affordance([[grabbable]], x, "is not GRABBABLE"))', "true"),
    ("who sits walks", VIRTUALHOME, "if ([[world_.has_state(me, State::kSitting) || world_.has_state(me, State::kLying)]]) {\n    return Failure{", "false"),
    ("who walks is still where he was", VIRTUALHOME, "world_.begin_action();\n  [[leave(me);]]", ""),
    ("what is open is opened", VIRTUALHOME, "additional([[!world_.has_state(x, State::kClosed)]], str_cat(describe(x), \" is not closed\"))", "false"),
    ("what is on is switched on", VIRTUALHOME, "additional([[!world_.has_state(x, State::kOff)]], str_cat(describe(x), \" is not off\"))", "false"),
    ("nothing is opened", VIRTUALHOME, "[[world_.change_state(x, State::kClosed, State::kOpen);]]", ""),
    ("nothing is put anywhere", VIRTUALHOME, "[[world_.add_edge(x, relation, y);]]", ""),
    ("three hands", HELP, "if ([[held_.size() < kHands]]) return", "held_.size() <= kHands"),
    ("everything is near", HELP, "return broken([[!is_near(x)]], rule", "false"),
    ("hands reach into what is closed", HELP, "if ([[scene_.node(y).is_room() || !has_state(y, State::kClosed)]]) continue;", "true"),
    ("things are put into what is closed", HELP, "if (Check failed = broken([[shut]], \"closed\"", "false"),
    ("things are put onto anything", HELP, "broken([[!has(y, Property::kSurfaces)]], \"no surface\"", "false"),
    ("things are put into anything", HELP, "broken([[!has(y, Property::kContainers)]], \"no container\"", "false"),
    ("what is not held is put", HELP, "broken([[!holds(x)]], \"not holding\"", "false"),
    ("what is open is switched on", HELP, "broken([[open]], \"not closed\"", "false"),
    ("what is put down stays in the hand", HELP, "[[std::erase(held_, x);]]", ""),
    ("nothing is closed", HELP, "[[change_state(x, State::kOpen, State::kClosed);]]", ""),
    ("what is grabbed stays where it was", HELP, "[[targets(x, relation).clear();]]", ""),
    ("on is in", "benchmarks/watch_and_help/goal.cc", "[[line.kind == GoalKind::kOn ? Relation::kOn : Relation::kInside]];", "Relation::kInside"),
    # Those that the excerpts do not show, and all that was recorded does.
    ("things of any size are grasped", BEHAVIOR, "if ([[scene[o].volume > kMaxGraspedVolume]])", "false"),
    ("cooking needs no pan", BEHAVIOR, '[[!any_around(scene, state, o, [&](ObjectId p) { return named(scene, p, "saucepan"); })]]', "false"),
]
ONLY_WHOLE = 2  # so many of the last
# The graph executor of VirtualHome serves Watch-And-Help, too.
SUITES = {"behavior": ["Behavior"], "virtualhome": ["VirtualHome", "WatchAndHelp"], "watch_and_help": ["WatchAndHelp"]}
HEADER = """// Which of the planted rules is awake: the number in METACTRL_PLANTED, none without it.
#ifndef METACTRL_PLANTED_H_
#define METACTRL_PLANTED_H_
#include <cstdlib>
namespace metactrl {
inline bool planted(int number) {
  static const char* const awake = std::getenv("METACTRL_PLANTED");
  return awake != nullptr && std::atoi(awake) == number;
}
}  // namespace metactrl
#endif  // METACTRL_PLANTED_H_
"""


def planted(text, number):
    what, file, place, instead = PLANTED[number]
    before, _, rest = place.partition("[[")
    rule, _, after = rest.rpartition("]]")
    # Other rules may have been planted in the text already, so what stands around this one is looked for, too.
    if text.count(before + rule + after) != 1:
        sys.exit(f"scorers.py: '{what}': {file} has not one place such as\\n{before + rule + after}")
    if not rule.endswith(";"):
        plain = f"static_cast<bool>({rule})" if instead in ("true", "false") else f"({rule})"
        changed = f"(::metactrl::planted({number}) ? {instead} : {plain})"
    elif instead:
        changed = f"if (::metactrl::planted({number})) {instead}\n{rule}"
    else:
        changed = f"if (!::metactrl::planted({number})) {rule}"
    return text.replace(before + rule + after, before + changed + after)


def write(sources, out):
    for file in sorted({place[1] for place in PLANTED}):
        text = (sources / file).read_text()
        for number, place in enumerate(PLANTED):
            if place[1] == file:
                text = planted(text, number)
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        (out / file).write_text('#include "planted.h"\n' + text)
    (out / "planted.h").write_text(HEADER)


def run(program, data):
    shown = len(PLANTED) - (0 if (data / "eai_vh").is_dir() else ONLY_WHOLE)

    def status(number):
        environment = {**os.environ, "GTEST_BRIEF": "1", "GTEST_FAIL_FAST": "1"}
        suites = [""]
        if number is not None:
            environment["METACTRL_PLANTED"] = str(number)
            suites = SUITES[PLANTED[number][1].split("/")[1]]
        extent = "Whole" if number is not None and number >= len(PLANTED) - ONLY_WHOLE else "Excerpt"
        command = [program, "--gtest_filter=" + ":".join(f"*{suite}Vectors.*{extent}" for suite in suites)]
        return subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

    if status(None) != 0:
        sys.exit("scorers.py: with nothing planted something is noticed")
    missed = [f"{file}: {what}" for number, (what, file, _, _) in enumerate(PLANTED[:shown]) if status(number) != 1]
    print(f"{shown - len(missed)} of {shown} planted rules noticed; {len(PLANTED) - shown} more need METACTRL_DATA")
    sys.exit("\n".join(["not noticed:", *missed]) if missed else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        write(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    else:
        root = pathlib.Path(__file__).resolve().parent.parent.parent
        run(sys.argv[2], pathlib.Path(os.environ.get("METACTRL_DATA") or root / "../shared/data"))
