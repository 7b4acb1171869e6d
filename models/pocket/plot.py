#!/usr/bin/env python3
"""Draws the loss curves of a training: log.tsv (train.py) as an SVG file. Standard library only.

    plot.py log.tsv loss.svg
"""
import math
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 60, 150, 30, 50
COLOURS = ["#1b6ca8", "#d1495b", "#66a182", "#edae49", "#7a5195", "#8d6e63", "#00798c", "#444444", "#c06c84"]


def read(file):
    with open(file) as text:
        head, *rows = [line.rstrip("\n").split("\t") for line in text if line.strip()]
    if not rows:
        raise SystemExit(f"{file} has no rows yet")
    return {name: [float(row[i]) for row in rows] for i, name in enumerate(head)}


def ticks(low, high):
    """Powers of ten with 1, 2, 5 between low and high."""
    found = []
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        found += [m * 10.0**power for m in (1, 2, 5) if low <= m * 10.0**power <= high]
    return found


def draw(table):
    series = {"training": table["loss"], "plans, unseen": table["valid"]}
    fixed = {"step", "seconds", "tokens", "rate", "loss", "valid", "exact"}
    series.update({name: values for name, values in table.items() if name not in fixed and any(values)})
    positive = [v for values in series.values() for v in values if v > 0]
    low, high = min(positive) * 0.9, max(positive) * 1.1
    last = max(table["seconds"]) or 1
    x = lambda seconds: LEFT + (WIDTH - LEFT - RIGHT) * seconds / last
    y = lambda loss: TOP + (HEIGHT - TOP - BOTTOM) * (math.log(high) - math.log(max(loss, low))) / (math.log(high) - math.log(low))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="18" font-weight="bold">Loss per token</text>']
    for tick in ticks(low, high):
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for i in range(6):
        seconds = last * i / 5
        out.append(f'<text x="{x(seconds):.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{seconds / 60:.1f}</text>')
    out.append(f'<text x="{x(last / 2):.1f}" y="{HEIGHT - 10}" text-anchor="middle">minutes</text>')
    for i, (name, values) in enumerate(series.items()):
        points = " ".join(f"{x(s):.1f},{y(v):.1f}" for s, v in zip(table["seconds"], values))
        width = 2.5 if i < 2 else 1.2
        colour = COLOURS[i % len(COLOURS)]
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"/>')
        out.append(f'<text x="{WIDTH - RIGHT + 12}" y="{TOP + 12 + 18 * i}" fill="{colour}">{name} {values[-1]:.3f}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    if len(sys.argv) != 3:
        raise SystemExit("usage: plot.py log.tsv loss.svg")
    with open(sys.argv[2], "w") as file:
        file.write(draw(read(sys.argv[1])))


if __name__ == "__main__":
    main()
