"""What notebooks show: plans as numbered steps, traces as the page does: what was allowed at each step, and why not the rest."""

from __future__ import annotations

import html
from typing import Any, Iterable

_STYLE = (
    "<style>.metactrl{font:14px sans-serif}.metactrl code{background:#0001;padding:0 .3em;border-radius:3px}"
    ".metactrl .good{color:#17803d}.metactrl .bad{color:#b42318}.metactrl .dim{color:#8a8f98}"
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
    kind = "dim" if token["forced"] else "good"
    title = "no alternative" if token["forced"] else f"one of {token['choices']}"
    return f'<span class="{kind}" title="{title}">{_escape(token["text"]) or "⏎"}</span>'


def trace_html(trace: Any) -> str:
    parts = []
    for number, step in enumerate(trace.steps, 1):
        chosen = "" if step["chosen"] is None else f"<code>{_escape(step['chosen'])}</code>"
        tokens = "<code>" + "".join(map(_token, step["tokens"])) + "</code>" if step["tokens"] else ""
        rows = "".join(
            f'<tr class="{"good" if judged["standing"] in ("allowed", "not judged") else "bad"}"><td>{_escape(judged["action"])}</td>'
            f"<td>{_escape(judged['standing'])}</td><td>{_escape(judged.get('reason', ''))}</td></tr>"
            for judged in step["legal"]
        )
        parts.append(
            f"<div><b>{number}.</b> {chosen} {tokens}</div>"
            f'<details><summary class="dim">{len(step["legal"])} legal actions</summary><table>{rows}</table></details>'
        )
    return _box(*parts)
