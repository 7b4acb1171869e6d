"""What notebooks show: plans as numbered steps; traces as the page does: at each step the goals that are left, what was allowed and why not the rest, and where
the model wanted another token than the one it got."""

from __future__ import annotations

import html
from typing import Any, Iterable

_STYLE = (
    "<style>.metactrl{font:14px sans-serif}.metactrl code{background:#0001;padding:0 .3em;border-radius:3px}"
    ".metactrl .good{color:#17803d}.metactrl .bad{color:#b42318}.metactrl .dim{color:#8a8f98}.metactrl .other{color:#b54708;text-decoration:underline dotted}"
    ".metactrl ol{margin:.3em 0}.metactrl table{border-collapse:collapse}.metactrl td{padding:.1em .6em;text-align:left}"
    "</style>"
)


def _escape(text: Any) -> str:
    return html.escape(str(text))


def _box(*parts: str) -> str:
    return f'<div class="metactrl">{_STYLE}{"".join(parts)}</div>'


def _steps(actions: Iterable[Any]) -> str:
    return "<ol>" + "".join(f"<li><code>{_escape(action)}</code></li>" for action in actions) + "</ol>"


def _verdict(good: bool, text: str) -> str:
    return f'<div class="{"good" if good else "bad"}">{"✓" if good else "✗"} {_escape(text)}</div>'


def validation_html(validation: Any) -> str:
    return _box(_verdict(validation.valid, validation.reason or "every step is legal, every goal holds"), _steps(validation.actions))


def schedule_html(schedule: Any) -> str:
    rows = "".join(
        f"<tr><td>{step.start:.3f}</td><td><code>{_escape(step.action)}</code></td><td>{step.duration:.3f}</td></tr>" for step in schedule.steps
    )
    return _box(f'<table>{rows}</table><div class="dim">ends at {schedule.makespan:.3f}</div>')


def task_html(task: Any) -> str:
    rows = "".join(
        f"<tr><td>{name}</td><td>{_escape(', '.join(values[:30]))}{' …' if len(values) > 30 else ''}</td></tr>"
        for name, values in (
            ("actions", [f"{name}({arity})" for name, arity in task.arity.items()]),
            ("objects", task.objects),
            ("initially", task.initial),
            ("goals", task.goals),
        )
    )
    return _box(f"<b>{_escape(task.name)}</b><table>{rows}</table>")


def plan_html(plan: Any) -> str:
    counts = f"{len(plan.tokens)} tokens, {plan.forced_tokens} of them forced, {plan.model_calls} calls of the model"
    return _box(_verdict(plan.valid, plan.reason), _steps(plan.actions), f'<div class="dim">{counts}</div>')


def _token(token: Any) -> str:
    kind, title = ("dim", "no alternative") if token["forced"] else ("good", f"one of {token['choices']}")
    wanted = token.get("wanted")
    if wanted is not None and wanted["token"] != token["token"]:
        kind, title = "other", f"{title}; the model wanted {wanted['text']!r}"
    return f'<span class="{kind}" title="{_escape(title)}">{_escape(token["text"]) or "⏎"}</span>'


def _judged(judged: Any, chosen: Any) -> str:
    """One of the legal actions: whether it was allowed, how far the goal is behind it and what it weighs, or why it was not."""
    good = judged["standing"] in ("allowed", "not judged")
    action = f"<b>{_escape(judged['action'])}</b>" if judged["action"] == chosen else _escape(judged["action"])
    said = _escape(judged.get("reason", ""))
    if "remaining" in judged:
        weight = "" if judged["log_weight"] is None else f", weight {judged['log_weight']:+.2f}"
        said = f"{judged['remaining']} more behind it{weight}"
    return f'<tr class="{"good" if good else "bad"}"><td>{action}</td><td>{_escape(judged["standing"])}</td><td>{said}</td></tr>'


def _goals(left: Any, before: Any, dropped: Any) -> str:
    """Those that the step before has reached, and those that are left."""
    reached = "".join(f'<span class="good">✓ {_escape(goal)}</span> ' for goal in before if goal not in left)
    waiting = "".join(f"<li>{_escape(goal)}{' (given up)' if goal in dropped else ''}</li>" for goal in left)
    count = f"{len(left)} goal{'' if len(left) == 1 else 's'} left"
    return f'<div>{reached}</div><details><summary class="dim">{count}</summary><ul>{waiting}</ul></details>' if left else f"<div>{reached}</div>"


def trace_html(trace: Any) -> str:
    parts = []
    goals, dropped = trace.open_goals, trace.goals_dropped
    for number, step in enumerate(trace.steps, 1):
        chosen = "" if step["chosen"] is None else f"<code>{_escape(step['chosen'])}</code>"
        tokens = "<code>" + "".join(map(_token, step["tokens"])) + "</code>" if step["tokens"] else ""
        rows = "".join(_judged(judged, step["chosen"]) for judged in step["legal"])
        parts.append(
            _goals(goals[number - 1], goals[max(0, number - 2)], dropped)
            + f"<div><b>{number}.</b> {chosen} {tokens}</div>"
            + f'<details><summary class="dim">{len(step["legal"])} legal actions</summary><table>{rows}</table></details>'
        )
    for left, before in zip(goals[len(trace.steps) :], goals[len(trace.steps) - 1 :]):
        parts.append(_goals(left, before, dropped))
    return _box(*parts)
