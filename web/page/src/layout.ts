// Where everything stands. Places keep their position and size throughout a run, so that what moves is what the plan
// moves: a first pass over all scenes finds how large each place must ever be. Places that are linked stand on a grid,
// each near those it is linked to; others in rows, on a floor. A robot that is nowhere has the strip above them.
import { robot, shownName, type Scene, type Thing } from "./scene.js";

export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
  kind: "agent" | "container" | "surface" | "thing";
}

export interface Frame {
  boxes: Map<string, Box>;
  // The robot reaches for something.
  arm: { from: [number, number]; to: [number, number] } | null;
}

export interface Layout {
  width: number;
  height: number;
  frames: Frame[];
  floors: number[]; // what the rows stand on
  links: { from: string; to: string }[];
}

interface Size {
  w: number;
  h: number;
}

const gap = 8;
const pad = 10;
const labelHeight = 20;
const thingHeight = 32;
const badgeHeight = 16;
const slabHeight = 28;
const agentSize = 54;
const cellGap = 22;

export function textWidth(text: string, size = 13): number {
  return text.length * size * 0.6;
}

class Measure {
  private readonly inner = new Map<string, Size>();
  private readonly linked = new Set<string>();
  private readonly below = new Map<Scene, Map<string, string[]>>();
  private readonly onWidth = new Map<string, number>();
  private readonly ever = { in: new Set<string>(), on: new Set<string>(), placed: new Set<string>() };

  constructor(scenes: Scene[], private readonly shown: Set<string>) {
    for (const scene of scenes) {
      for (const name of scene.links.flat()) this.linked.add(name);
      const below = new Map<string, string[]>();
      this.below.set(scene, below);
      for (const thing of scene.things.values()) {
        if (thing.parent === null || !shown.has(thing.name)) continue;
        const key = `${thing.how} ${thing.parent}`;
        const list = below.get(key);
        if (list) list.push(thing.name);
        else below.set(key, [thing.name]);
        this.ever[thing.how].add(thing.parent);
        this.ever.placed.add(thing.name);
      }
    }
    for (let pass = 0; pass < 3; ++pass) for (const scene of scenes) for (const root of this.roots(scene)) this.size(scene, root);
  }

  roots(scene: Scene): string[] {
    return [...scene.things.values()].filter((thing) => thing.parent === null && this.shown.has(thing.name)).map(({ name }) => name);
  }

  everPlaced(name: string): boolean {
    return this.ever.placed.has(name);
  }

  kind(thing: Thing): Box["kind"] {
    if (thing.agent) return "agent";
    if (this.ever.in.has(thing.name) || thing.lid !== "") return "container";
    if (this.linked.has(thing.name) && !this.ever.placed.has(thing.name)) return "container";
    return this.ever.on.has(thing.name) && !this.ever.placed.has(thing.name) ? "surface" : "thing";
  }

  children(scene: Scene, name: string, how: "in" | "on"): string[] {
    return this.below.get(scene)?.get(`${how} ${name}`) ?? [];
  }

  // Rows of at most `wide`, bottom aligned; calls `at` with each one's place.
  flow(scene: Scene, names: string[], wide: number, at: (name: string, x: number, y: number) => void = () => undefined): Size {
    let width = 0;
    let top = 0;
    let row: { name: string; size: Size }[] = [];
    const close = () => {
      if (row.length === 0) return;
      const height = Math.max(...row.map(({ size }) => size.h));
      let x = 0;
      for (const { name, size } of row) {
        at(name, x, top + height - size.h);
        x += size.w + gap;
      }
      width = Math.max(width, x - gap);
      top += height + gap;
      row = [];
    };
    for (const name of names) {
      const size = this.size(scene, name);
      const used = row.reduce((sum, one) => sum + one.size.w + gap, 0);
      if (row.length > 0 && used + size.w > wide) close();
      row.push({ name, size });
    }
    close();
    return { w: width, h: Math.max(0, top - gap) };
  }

  wide(name: string): number {
    return this.ever.placed.has(name) ? 170 : this.ever.on.has(name) && !this.ever.in.has(name) ? 400 : 260;
  }

  body(scene: Scene, name: string): Size {
    const thing = scene.things.get(name);
    if (thing === undefined) return { w: 0, h: 0 };
    const label = textWidth(shownName(name));
    const kind = this.kind(thing);
    if (kind === "agent") {
      const hand = this.grown(name, this.flow(scene, this.children(scene, name, "in"), 150));
      return { w: Math.max(agentSize, label) + (hand.w > 0 ? hand.w + gap : 0), h: Math.max(agentSize + labelHeight, hand.h) };
    }
    const badges = thing.badges.length === 0 ? 0 : badgeHeight;
    const badgeWidth = thing.badges.length === 0 ? 0 : textWidth(thing.badges.join(" · "), 11) + 12;
    const standing = this.onWidth.get(name) ?? 0;
    if (kind === "surface") return { w: Math.max(100, label + 28, standing + 2 * pad, badgeWidth + 8), h: slabHeight + badges };
    if (kind === "container") {
      const inner = this.grown(name, this.flow(scene, this.children(scene, name, "in"), this.wide(name)));
      const least = this.ever.placed.has(name) ? { w: 40, h: 8 } : { w: 96, h: 40 };
      return { w: Math.max(least.w, inner.w, label, badgeWidth, standing) + 2 * pad, h: labelHeight + Math.max(least.h, inner.h) + pad + 8 + badges };
    }
    return { w: Math.max(44, label + 22, badgeWidth, standing), h: thingHeight + badges };
  }

  size(scene: Scene, name: string): Size {
    const on = this.flow(scene, this.children(scene, name, "on"), this.wide(name));
    this.onWidth.set(name, Math.max(this.onWidth.get(name) ?? 0, on.w));
    const body = this.body(scene, name);
    return { w: Math.max(body.w, on.w), h: body.h + (on.h > 0 ? on.h + 1 : 0) };
  }

  private grown(name: string, size: Size): Size {
    const before = this.inner.get(name) ?? { w: 0, h: 0 };
    const now = { w: Math.max(before.w, size.w), h: Math.max(before.h, size.h) };
    this.inner.set(name, now);
    return now;
  }

  // Puts `name` and what is in and on it into the cell at (x, y), on its floor.
  put(scene: Scene, name: string, x: number, y: number, cell: Size, boxes: Map<string, Box>): void {
    const thing = scene.things.get(name);
    if (thing === undefined) return;
    const body = this.body(scene, name);
    const kind = this.kind(thing);
    const left = x + (cell.w - body.w) / 2;
    const top = y + cell.h - body.h;
    boxes.set(name, { x: left, y: top, w: body.w, h: body.h, kind });
    const inside = this.children(scene, name, "in");
    if (kind === "agent") {
      const own = Math.max(agentSize, textWidth(shownName(name)));
      this.flow(scene, inside, 150, (child, cx, cy) => { this.put(scene, child, left + own + gap + cx, top + 6 + cy, this.size(scene, child), boxes); });
    } else {
      const used = this.flow(scene, inside, this.wide(name));
      const floor = top + body.h - pad - used.h;
      this.flow(scene, inside, this.wide(name), (child, cx, cy) => {
        this.put(scene, child, left + (body.w - used.w) / 2 + cx, floor + cy, this.size(scene, child), boxes);
      });
    }
    const above = this.children(scene, name, "on");
    const standing = this.flow(scene, above, this.wide(name));
    this.flow(scene, above, this.wide(name), (child, cx, cy) => {
      this.put(scene, child, left + (body.w - standing.w) / 2 + cx, top - standing.h - 1 + cy, this.size(scene, child), boxes);
    });
  }
}

// Each node beside those it is linked to: the most linked first, every further one at the free cell of the grid that is
// nearest to its neighbours.
export function gridOf(names: string[], links: [string, string][]): Map<string, [number, number]> {
  const near = new Map<string, Set<string>>(names.map((name) => [name, new Set()]));
  for (const [a, b] of links) {
    near.get(a)?.add(b);
    near.get(b)?.add(a);
  }
  const columns = Math.max(1, Math.ceil(Math.sqrt(names.length * 1.6)));
  const rows = Math.ceil(names.length / columns);
  const free = new Set<string>();
  for (let y = 0; y < rows; ++y) for (let x = 0; x < columns; ++x) free.add(`${x} ${y}`);
  const spots = new Map<string, [number, number]>();
  const left = new Set(names);
  while (left.size > 0) {
    const score = (name: string) => [...(near.get(name) ?? [])].filter((other) => spots.has(other)).length * 100 + (near.get(name)?.size ?? 0);
    const next = [...left].reduce((best, name) => (score(name) > score(best) ? name : best));
    const around = [...(near.get(next) ?? [])].flatMap((other) => spots.get(other) ?? []);
    let best: [number, number] = [0, 0];
    let least = Infinity;
    for (const cell of free) {
      const [x = 0, y = 0] = cell.split(" ").map(Number);
      let cost = 0.01 * (Math.abs(x - (columns - 1) / 2) + Math.abs(y - (rows - 1) / 2));
      for (let i = 0; i + 1 < around.length; i += 2) cost += Math.hypot(x - (around[i] ?? 0), y - (around[i + 1] ?? 0));
      if (cost < least) [least, best] = [cost, [x, y]];
    }
    spots.set(next, best);
    free.delete(`${best[0]} ${best[1]}`);
    left.delete(next);
  }
  return spots;
}

// `reach[i]`: the thing that the action before scene i was done to.
export function layOut(scenes: Scene[], shown: Set<string>, reach: (string | null)[], ratio = 1.25): Layout {
  const measure = new Measure(scenes, shown);
  const rooted = new Set(scenes.flatMap((scene) => measure.roots(scene)));
  const nowhere = [...rooted].filter((name) => scenes[0]?.things.get(name)?.agent && !measure.everPlaced(name));
  const cells = new Map<string, Size>();
  for (const name of rooted) {
    const sizes = scenes.filter((scene) => scene.things.get(name)?.parent === null).map((scene) => measure.size(scene, name));
    cells.set(name, { w: Math.max(...sizes.map(({ w }) => w)), h: Math.max(...sizes.map(({ h }) => h)) });
  }
  const places = [...rooted].filter((name) => !nowhere.includes(name));
  const strip = nowhere.length === 0 ? 0 : Math.max(...nowhere.map((name) => cells.get(name)?.h ?? 0)) + cellGap;
  const at = new Map<string, { x: number; y: number; w: number; h: number }>();
  const links = (scenes[0]?.links ?? []).filter(([a, b]) => places.includes(a) && places.includes(b));
  const size = links.length > 0 ? onGrid(places, links, cells, at) : inRows(places, cells, at, ratio, strip);
  const agents = nowhere.reduce((sum, name) => sum + (cells.get(name)?.w ?? 0) + cellGap, 0);
  const width = Math.max(size.w, agents) + 2 * cellGap;
  const height = size.h + strip + 2 * cellGap;

  const frames = scenes.map((scene, index): Frame => {
    const boxes = new Map<string, Box>();
    for (const [name, cell] of at) {
      if (scene.things.get(name)?.parent === null) measure.put(scene, name, cell.x + cellGap + (width - 2 * cellGap - size.w) / 2, cell.y + cellGap + strip, cell, boxes);
    }
    const goal = reach[index] ?? null;
    const target = goal === null ? undefined : boxes.get(goal);
    let x = cellGap;
    for (const name of nowhere) {
      const cell = cells.get(name) ?? { w: agentSize, h: agentSize };
      const wanted = nowhere.length === 1 ? (target ? target.x + target.w / 2 - agentSize / 2 : (width - agentSize) / 2) : x;
      const room = measure.children(scene, name, "in").length > 0 ? cell.w : agentSize;
      measure.put(scene, name, Math.max(cellGap / 2, Math.min(wanted, width - room - cellGap / 2)), cellGap / 2, cell, boxes);
      x += cell.w + cellGap;
    }
    const actor = [...boxes].find(([name, box]) => box.kind === "agent" && (name === robot || name !== goal));
    const hand = actor?.[1];
    const reached = target && hand && target.y > hand.y && scene.things.get(goal ?? "")?.parent !== actor[0] && !inside(scene, actor[0], goal ?? "");
    return {
      boxes,
      arm: reached ? { from: [hand.x + agentSize / 2, hand.y + agentSize + (actor[0] === robot ? labelHeight : 0)], to: [target.x + target.w / 2, Math.max(target.y, hand.y + agentSize)] } : null,
    };
  });
  const floors = links.length > 0 ? [] : [...new Set([...at.values()].map((cell) => cell.y + cell.h + cellGap + strip))];
  return { width, height, frames, floors, links: links.map(([from, to]) => ({ from, to })) };
}

function inside(scene: Scene, name: string, place: string): boolean {
  for (let at = scene.things.get(name)?.parent ?? null, steps = 0; at !== null && steps < 50; at = scene.things.get(at)?.parent ?? null, ++steps) {
    if (at === place) return true;
  }
  return false;
}

type Spots = Map<string, { x: number; y: number; w: number; h: number }>;

// Rows on a floor each, as wide as gives the picture its ratio.
function inRows(names: string[], cells: Map<string, Size>, at: Spots, ratio: number, strip: number): Size {
  let best: { size: Size; at: Spots; off: number } | null = null;
  // As wide as the first k of them, for every k.
  for (let k = 0, limit = 0; k < names.length; ++k) {
    limit += (cells.get(names[k] ?? "")?.w ?? 0) + (k > 0 ? cellGap : 0);
    const spots: Spots = new Map();
    let y = 0;
    let widest = 0;
    let row: string[] = [];
    let x = 0;
    const rows: { names: string[]; width: number }[] = [];
    const close = () => {
      const height = Math.max(0, ...row.map((name) => cells.get(name)?.h ?? 0));
      for (const name of row) {
        const spot = spots.get(name);
        if (spot) [spot.y, spot.h] = [y, height];
      }
      y += height + cellGap;
      widest = Math.max(widest, x - cellGap);
      rows.push({ names: row, width: x - cellGap });
      x = 0;
      row = [];
    };
    for (const name of names) {
      const cell = cells.get(name) ?? { w: 0, h: 0 };
      if (row.length > 0 && x + cell.w > limit + 0.5) close();
      spots.set(name, { x, y: 0, w: cell.w, h: cell.h });
      row.push(name);
      x += cell.w + cellGap;
    }
    close();
    for (const { names: all, width } of rows) {
      for (const name of all) {
        const spot = spots.get(name);
        if (spot) spot.x += (widest - width) / 2;
      }
    }
    const size = { w: widest, h: Math.max(0, y - cellGap) };
    const off = Math.abs(Math.log(Math.max(1, size.w) / Math.max(1, size.h + strip) / ratio));
    if (best === null || off < best.off) best = { size, at: spots, off };
  }
  for (const [name, spot] of best?.at ?? []) at.set(name, spot);
  return best?.size ?? { w: 0, h: 0 };
}

function onGrid(names: string[], links: [string, string][], cells: Map<string, Size>, at: Spots): Size {
  const spots = gridOf(names, links);
  const widths: number[] = [];
  const heights: number[] = [];
  for (const [name, [column, row]] of spots) {
    widths[column] = Math.max(widths[column] ?? 0, cells.get(name)?.w ?? 0);
    heights[row] = Math.max(heights[row] ?? 0, cells.get(name)?.h ?? 0);
  }
  const start = (sizes: number[], index: number) => Array.from(sizes.slice(0, index), (one) => one).reduce((sum, one) => sum + (one || 0) + 2 * cellGap, 0);
  for (const [name, [column, row]] of spots) at.set(name, { x: start(widths, column), y: start(heights, row), w: widths[column] ?? 0, h: heights[row] ?? 0 });
  return { w: start(widths, widths.length) - 2 * cellGap, h: start(heights, heights.length) - 2 * cellGap };
}
