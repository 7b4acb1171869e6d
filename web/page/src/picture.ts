// The world as a picture: one group per thing, moved and resized by style properties, so that the browser glides from
// one state to the next. What it shows is said in words, too, for those who do not see it.
import { readDomain, plain, type Atom, type Change } from "./pddl.js";
import { findShape, isSpot, parseState, sceneOf, shownName, worthShowing, type Scene } from "./scene.js";
import { layOut, textWidth, type Box, type Layout } from "./layout.js";
import type { Run } from "./run.js";
import { statesOf } from "./run.js";

const svgNamespace = "http://www.w3.org/2000/svg";
// More than this nobody can look at; of larger tasks what the plan touches is shown.
const mostThings = 42;
// Things whose names are colours have them. (Gray and white are no hues.)
const pale = new Set(["white", "gray", "grey", "black", "silver"]);
const colours: Record<string, number> = { red: 4, orange: 28, yellow: 48, green: 130, blue: 215, purple: 280, violet: 270, pink: 330, brown: 25, lemon: 52, tomato: 8, banana: 50, apple: 110 };

function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number> = {}): SVGElementTagNameMap[K] {
  const node = document.createElementNS(svgNamespace, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
}

interface Drawn {
  group: SVGGElement;
  body: SVGRectElement;
  lid: SVGRectElement;
  label: SVGTextElement;
  badge: SVGTextElement;
}

export interface Marks {
  acted: string[]; // what the step was done to
  wrong: boolean; // it could not be done
}

export class Picture {
  readonly root = svg("svg", { role: "img", class: "world", preserveAspectRatio: "xMidYMid meet" });
  private readonly linkLayer = svg("g", { class: "links" });
  private readonly floorLayer = svg("g", { class: "floors" });
  private readonly things = svg("g");
  private readonly arm = svg("line", { class: "arm" });
  private layout: Layout | null = null;
  private scenes: Scene[] = [];
  private readonly drawn = new Map<string, Drawn>();
  private key = "";
  private prepared = { at: 0, took: 0 };

  constructor() {
    this.root.append(this.floorLayer, this.linkLayer, this.arm, this.things);
  }

  // Prepares for all states that are known so far. Cheap when nothing is new; while a run of a large task grows, not every
  // step is prepared for.
  prepare(run: Run, domainText: string | null): void {
    const start = run.start;
    const box = this.root.getBoundingClientRect();
    const ratio = box.height > 0 ? Math.round((4 * box.width) / box.height) / 4 : 1.25;
    const key = start === null ? "" : `${ratio} ${start.task} ${run.actions.length} ${run.end === null ? 0 : 1} ${start.facts.length} ${domainText?.length ?? 0}`;
    const now = performance.now();
    if (key === this.key || (start !== null && run.end === null && run.error === "" && now - this.prepared.at < 20 * this.prepared.took)) return;
    this.key = key;
    if (start === null) {
      this.layout = null;
      this.scenes = [];
      this.clear();
      return;
    }
    const texts = statesOf(run);
    const known = new Map<string, Atom | null>();
    const states = texts.map((facts) => parseState(facts, known));
    const watched: Change[] = run.actions.map(({ added, removed }) => ({ added: parseState(added), deleted: parseState(removed) }));
    const shape = findShape(domainText === null ? null : readDomain(domainText), states, watched);
    this.scenes = states.map((atoms) => sceneOf(shape, start.objects, atoms));
    const acted = new Set([...parseState(start.goals).flatMap(({ args }) => args), ...run.actions.flatMap((action) => action.arguments)]);
    const shown = worthShowing(this.scenes, acted, mostThings);
    const reach = this.scenes.map((scene, index) => {
      const action = run.actions[index - 1];
      const before = this.scenes[index - 1];
      if (action === undefined || !action.legal) return null;
      for (const name of [...action.arguments].reverse()) {
        const thing = scene.things.get(name);
        if (thing === undefined || thing.agent) continue;
        const holder = thing.parent === null ? undefined : scene.things.get(thing.parent);
        return holder?.agent ? (before?.things.get(name)?.parent ?? null) : name;
      }
      return null;
    });
    this.layout = layOut(this.scenes, shown, reach, ratio);
    this.clear();
    this.build();
    this.prepared = { at: performance.now(), took: performance.now() - now };
  }

  // How much room the picture takes; two of the same task are drawn to one scale.
  get size(): [number, number] {
    return this.layout === null ? [0, 0] : [this.layout.width, this.layout.height];
  }

  frame([width, height]: [number, number]): void {
    const [w, h] = this.size;
    this.root.setAttribute("viewBox", [(w - width) / 2, h - height, width, height].map((one) => Math.round(one)).join(" "));
  }

  private clear(): void {
    this.drawn.clear();
    this.things.replaceChildren();
    this.linkLayer.replaceChildren();
    this.floorLayer.replaceChildren();
    this.arm.style.opacity = "0";
  }

  private build(): void {
    const layout = this.layout;
    if (layout === null) return;
    this.frame(this.size);
    for (const y of layout.floors) this.floorLayer.append(svg("rect", { x: -2000, y, width: 4000 + layout.width, height: 3 }));
    const largest = new Map<string, Box>();
    for (const frame of layout.frames) {
      for (const [name, box] of frame.boxes) {
        const before = largest.get(name);
        if (before === undefined || box.w * box.h > before.w * before.h) largest.set(name, box);
      }
    }
    const order = [...largest].sort(([, a], [, b]) => b.w * b.h - a.w * a.h);
    const first = this.scenes[0];
    const movers = [...largest.keys()].filter((name) => largest.get(name)?.kind === "thing");
    for (const [name, box] of order) {
      const group = svg("g", { class: `thing ${box.kind}${isSpot(name) ? " spot" : ""}`, "data-thing": name });
      const hue = colours[name.split(/[_-]/).find((word) => word in colours) ?? ""] ?? (200 + movers.indexOf(name) * 137.5) % 360;
      group.style.setProperty("--hue", String(Math.round(hue)));
      if (name.split(/[_-]/).some((word) => pale.has(word))) group.classList.add("pale");
      const body = svg("rect", { class: "body", rx: box.kind === "surface" ? 4 : box.kind === "agent" ? 12 : 7 });
      const lid = svg("rect", { class: "lid", rx: 3, height: 7 });
      const label = svg("text", { class: "label" });
      label.textContent = shownName(name);
      const badge = svg("text", { class: "badge" });
      group.append(body);
      if (box.kind === "agent") group.append(...face());
      if (first?.things.get(name)?.lid !== "" && box.kind === "container") group.append(lid);
      group.append(label, badge);
      this.things.append(group);
      this.drawn.set(name, { group, body, lid, label, badge });
    }
    const frame = layout.frames[0];
    for (const { from, to } of layout.links) {
      const a = frame?.boxes.get(from);
      const b = frame?.boxes.get(to);
      if (!a || !b) continue;
      this.linkLayer.append(svg("line", { x1: a.x + a.w / 2, y1: a.y + a.h / 2, x2: b.x + b.w / 2, y2: b.y + b.h / 2 }));
    }
  }

  show(step: number, marks: Marks): void {
    const layout = this.layout;
    const index = Math.min(step, this.scenes.length - 1);
    const frame = layout?.frames[index];
    const scene = this.scenes[index];
    if (!layout || !frame || !scene) {
      this.root.setAttribute("aria-label", "Nothing to see yet");
      return;
    }
    const acted = new Set(marks.acted);
    for (const [name, drawn] of this.drawn) {
      const box = frame.boxes.get(name);
      const thing = scene.things.get(name);
      drawn.group.style.opacity = box === undefined ? "0" : "1";
      if (box === undefined || thing === undefined) continue;
      drawn.group.style.transform = `translate(${box.x.toFixed(1)}px, ${box.y.toFixed(1)}px)`;
      drawn.group.classList.toggle("acted", acted.has(name) && !marks.wrong);
      drawn.group.classList.toggle("wrong", acted.has(name) && marks.wrong);
      drawn.group.classList.toggle("closed", thing.lid === "closed");
      drawn.group.classList.toggle("opened", thing.lid === "open");
      this.fit(drawn, box, thing.badges);
    }
    if (frame.arm) {
      const { from, to } = frame.arm;
      for (const [name, value] of [["x1", from[0]], ["y1", from[1]], ["x2", to[0]], ["y2", to[1]]] as const) this.arm.setAttribute(name, value.toFixed(1));
    }
    this.arm.style.opacity = frame.arm ? "1" : "0";
    this.root.setAttribute("aria-label", describe(scene, new Set(frame.boxes.keys())));
  }

  private fit(drawn: Drawn, box: Box, badges: string[]): void {
    const { body, lid, label, badge } = drawn;
    body.setAttribute("width", box.w.toFixed(1));
    body.setAttribute("height", box.h.toFixed(1));
    lid.setAttribute("x", "0");
    lid.setAttribute("y", "0");
    lid.setAttribute("width", box.w.toFixed(1));
    const inContainer = box.kind === "container";
    const centre = box.kind === "agent" ? Math.max(54, textWidth(label.textContent ?? "")) / 2 : box.w / 2;
    const hasBadge = badges.length > 0;
    label.setAttribute("x", centre.toFixed(1));
    label.setAttribute("y", String(box.kind === "agent" ? 68 : inContainer ? 24 : (box.h - (hasBadge ? 16 : 0)) / 2 + 4.5));
    badge.setAttribute("x", (box.w / 2).toFixed(1));
    badge.setAttribute("y", (inContainer ? 38 : box.h - 7).toFixed(1));
    badge.textContent = badges.join(" · ");
  }
}

function face(): SVGElement[] {
  return [
    svg("line", { class: "antenna", x1: 27, y1: 2, x2: 27, y2: 12 }),
    svg("circle", { class: "antenna-tip", cx: 27, cy: 3, r: 3.5 }),
    svg("rect", { class: "head", x: 7, y: 11, width: 40, height: 32, rx: 10 }),
    svg("circle", { class: "eye", cx: 19, cy: 26, r: 4.5 }),
    svg("circle", { class: "eye", cx: 35, cy: 26, r: 4.5 }),
    svg("rect", { class: "mouth", x: 20, y: 35, width: 14, height: 2.5, rx: 1 }),
  ];
}

// "orange in fridge (closed); pot on table; the robot's hand is empty"
export function describe(scene: Scene, shown: Set<string>): string {
  const parts: string[] = [];
  for (const thing of scene.things.values()) {
    if (!shown.has(thing.name) || isSpot(thing.name)) continue;
    const state = [thing.lid, ...thing.badges].filter((word) => word !== "").join(", ");
    const place = thing.parent === null ? "" : isSpot(thing.parent) ? ` ${shownName(thing.parent)}` : ` ${thing.how} ${plain(thing.parent)}`;
    if (place !== "" || state !== "") parts.push(`${plain(thing.name)}${place}${state === "" ? "" : ` (${state})`}`);
  }
  return parts.length === 0 ? "The world" : `The world: ${parts.join("; ")}`;
}
