// From facts to a scene: which thing is in or on which, what is open, who acts. Nothing is known of the domain but its
// facts and, where its text is there, what its actions add and delete; relations are found by their shape.
//
// A *placement* is a binary predicate, read in one of its two directions, that gives every thing at most one place at a
// time and never runs in circles: (on cup table), (holding robot cup). What changes comes first, then what the names
// and the actions suggest: an action that deletes (at ?x ..) and adds (carry ?x ..) says that ?x is what is moved. A
// predicate of one argument is a place of its own where an action trades it for a placement: (held ?x). Two predicates
// may both hold of one thing if one place is inside the other. Static binary predicates between places are *links*.
import { parseFact, type Atom, type Change, type DomainShape } from "./pddl.js";

export interface Placement {
  name: string;
  child: 0 | 1; // which argument is placed
  how: "in" | "on";
}

export interface Shape {
  placements: Placement[];
  held: Set<string>; // predicates of one argument: in the hand
  spots: Set<string>; // predicates of one argument that are a place: ontable
  links: Set<string>;
  badges: Set<string>;
  opens: Set<string>;
  closes: Set<string>;
  lids: Set<string>; // things that open and close
  agents: Set<string>;
}

export interface Thing {
  name: string;
  parent: string | null;
  how: "in" | "on";
  badges: string[];
  lid: "" | "open" | "closed";
  agent: boolean;
}

export interface Scene {
  things: Map<string, Thing>;
  links: [string, string][];
}

// The robot of a domain that has none among its objects.
export const robot = "robot";
const spotPrefix = "spot:";

export function isSpot(name: string): boolean {
  return name.startsWith(spotPrefix);
}

export function shownName(name: string): string {
  return (isSpot(name) ? name.slice(spotPrefix.length) : name).replace(/[_-]+/g, " ");
}

const holdWords = /hold|held|carr|grasp|grip|has|contain|stor(es|ing)/;
const placeWords = /^(is[-_])?(on|in|at|inside|ontop|upon|within|located|location|position|pos|parked|room|loaded|aboard|boarded)/;
const onWords = /^(is[-_])?on($|[-_]?top|[-_])|^upon|stack/;
const agentWords = /robot|agent|person|human|character|rover|drone|nurse|truck|vehicle|gripper|^arm|hand$/;
const noise = /^(clear|free|empty|(hand|arm|gripper)s?[-_]?(empty|free)|available|idle|not[-_].*)$/;

// `known`: facts that were read before; most hold in many states.
export function parseState(facts: Iterable<string>, known = new Map<string, Atom | null>()): Atom[] {
  const atoms: Atom[] = [];
  for (const fact of facts) {
    let atom = known.get(fact);
    if (atom === undefined) known.set(fact, (atom = parseFact(fact)));
    if (atom) atoms.push(atom);
  }
  return atoms;
}

// Where each thing is under these placements: the innermost of its places. Null where two places exclude each other or
// a thing is inside itself.
function parentsOf(atoms: Atom[], placements: Placement[], spots: Set<string>, held: Set<string>): Map<string, { parent: string; how: "in" | "on" }> | null {
  const options = new Map<string, { parent: string; how: "in" | "on" }[]>();
  const add = (child: string, parent: string, how: "in" | "on") => {
    const list = options.get(child) ?? [];
    if (!list.some((one) => one.parent === parent)) list.push({ parent, how });
    options.set(child, list);
  };
  for (const { name, args } of atoms) {
    const [a, b] = args;
    if (args.length === 1 && a !== undefined && spots.has(name)) add(a, spotPrefix + name, "on");
    if (args.length === 1 && a !== undefined && held.has(name)) add(a, robot, "in");
    if (args.length !== 2 || a === undefined || b === undefined) continue;
    for (const placement of placements) {
      if (placement.name !== name) continue;
      if (a === b) return null;
      if (placement.child === 0) add(a, b, placement.how);
      else add(b, a, placement.how);
    }
  }
  const above = new Map<string, Set<string> | null>();
  const ancestors = (name: string): Set<string> | null => {
    const known = above.get(name);
    if (known !== undefined) return known;
    above.set(name, null);
    const all = new Set<string>();
    for (const { parent } of options.get(name) ?? []) {
      const further = ancestors(parent);
      if (further === null) return null;
      all.add(parent);
      for (const one of further) all.add(one);
    }
    above.set(name, all);
    return all;
  };
  const out = new Map<string, { parent: string; how: "in" | "on" }>();
  for (const [child, list] of options) {
    if (ancestors(child) === null) return null;
    const inner = list.find((one) => list.every((other) => other === one || ancestors(one.parent)?.has(other.parent)));
    if (inner === undefined) return null;
    out.set(child, inner);
  }
  return out;
}

function relevantStates(states: Atom[][]): Atom[][] {
  const step = Math.max(1, Math.floor(states.length / 16));
  return states.filter((_, index) => index % step === 0 || index === states.length - 1);
}

function candidateScore(name: string, child: 0 | 1, changing: boolean, changes: Change[]): number {
  let score = (changing ? 100 : 0) + (child === 0 ? 10 : 0);
  if (placeWords.test(name)) score += child === 0 ? 30 : -30;
  else if (holdWords.test(name)) score += child === 1 ? 15 : -15;
  for (const { added, deleted } of changes) {
    for (const gained of added) {
      if (gained.name !== name || gained.args.length !== 2) continue;
      const moved = gained.args[child];
      if (deleted.some((lost) => lost.name !== name && lost.args.length === 2 && moved !== undefined && lost.args.includes(moved))) score += 40;
    }
  }
  return score;
}

// `states`: the facts at the start and after each step. `watched`: what each step changed, for a domain whose text is
// not there.
export function findShape(domain: DomainShape | null, states: Atom[][], watched: Change[]): Shape {
  const changes = domain?.changes ?? watched;
  const derived = domain?.derived ?? new Set<string>();
  const changing = new Set(changes.flatMap(({ added, deleted }) => [...added, ...deleted].map(({ name }) => name)));
  const looked = relevantStates(states);
  const ever = new Set(states.flat());
  const arity = new Map<string, number>();
  for (const atom of ever) arity.set(atom.name, Math.max(arity.get(atom.name) ?? 0, atom.args.length));
  for (const atom of changes.flatMap(({ added }) => added)) if (!arity.has(atom.name)) arity.set(atom.name, atom.args.length);
  const ofArity = (count: number) => [...arity].filter(([name, size]) => size === count && !derived.has(name)).map(([name]) => name);

  const shape: Shape = {
    placements: [], held: new Set(), spots: new Set(), links: new Set(), badges: new Set(), opens: new Set(), closes: new Set(), lids: new Set(), agents: new Set(),
  };
  const fits = (placements: Placement[], spots: Set<string>, held: Set<string>) =>
    looked.every((atoms) => parentsOf(atoms, placements, spots, held) !== null);
  const start = looked[0] ?? [];

  const candidates = ofArity(2)
    .flatMap((name) => ([0, 1] as const).map((child) => ({ name, child, score: candidateScore(name, child, changing.has(name), changes) })))
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
  for (const { name, child } of candidates) {
    if (shape.placements.some((one) => one.name === name)) continue;
    if (!changing.has(name) && !staticPlacement(name, child, start, shape.placements)) continue;
    const next: Placement[] = [...shape.placements, { name, child, how: onWords.test(name) ? "on" : "in" }];
    if (fits(next, shape.spots, shape.held)) shape.placements = next;
  }

  // Traded for a placement, in as many rounds as it takes: stacked, held, on the table.
  const placed = new Set(shape.placements.map(({ name }) => name));
  const one = ofArity(1).filter((name) => changing.has(name) && !noise.test(name));
  for (let grown = true; grown; ) {
    grown = false;
    for (const name of one) {
      if (placed.has(name) || !traded(name, placed, changes)) continue;
      const hand = holdWords.test(name);
      const spots = new Set(hand ? shape.spots : [...shape.spots, name]);
      const held = new Set(hand ? [...shape.held, name] : shape.held);
      if (!fits(shape.placements, spots, held)) continue;
      shape.spots = spots;
      shape.held = held;
      placed.add(name);
      grown = true;
    }
  }

  for (const name of one) {
    if (placed.has(name)) continue;
    if (/open/.test(name)) shape.opens.add(name);
    else if (/clos|shut/.test(name)) shape.closes.add(name);
    else shape.badges.add(name);
  }
  const moving = new Set(shape.placements.map(({ name }) => name));
  for (const name of ofArity(2)) if (!changing.has(name) && !moving.has(name)) shape.links.add(name);
  for (const { name, args } of ever) {
    const thing = args.length === 1 ? args[0] : undefined;
    if (thing === undefined) continue;
    if (shape.opens.has(name) || shape.closes.has(name) || /^(openable|can[-_]?open|has[-_]?(door|lid)|closable)$/.test(name)) shape.lids.add(thing);
  }
  if (shape.opens.size + shape.closes.size === 0) shape.lids.clear();
  const names = new Set([...ever].flatMap(({ args }) => args));
  for (const name of names) if (agentWords.test(name)) shape.agents.add(name);
  return shape;
}

// A fixed place: several things share one, and it does not lead from one place of movable things to another.
function staticPlacement(name: string, child: 0 | 1, atoms: Atom[], moving: Placement[]): boolean {
  const pairs = atoms.filter((atom) => atom.name === name && atom.args.length === 2);
  const parents = new Set(pairs.map(({ args }) => args[1 - child]));
  const children = new Set(pairs.map(({ args }) => args[child]));
  if (pairs.length === 0 || (children.size <= parents.size && !placeWords.test(name))) return false;
  return moving.every((placement) => {
    const places = new Set(atoms.filter((atom) => atom.name === placement.name).map(({ args }) => args[1 - placement.child]));
    return !pairs.some(({ args }) => places.has(args[0]) && places.has(args[1]));
  });
}

function traded(name: string, placed: Set<string>, changes: Change[]): boolean {
  return changes.some(({ added, deleted }) => {
    const swaps = (here: Atom[], there: Atom[]) =>
      here.some((atom) => atom.name === name && there.some((other) => other.name !== name && placed.has(other.name) && atom.args[0] !== undefined && other.args.includes(atom.args[0])));
    return swaps(added, deleted) || swaps(deleted, added);
  });
}

// What is to be seen in one state.
export function sceneOf(shape: Shape, objects: string[], atoms: Atom[]): Scene {
  const parents = parentsOf(atoms, shape.placements, shape.spots, shape.held) ?? new Map<string, { parent: string; how: "in" | "on" }>();
  const things = new Map<string, Thing>();
  const hand = shape.held.size > 0 ? (objects.find((name) => shape.agents.has(name)) ?? robot) : null;
  const add = (name: string, agent: boolean) => {
    const at = parents.get(name);
    const parent = at === undefined ? null : at.parent === robot && hand !== null ? hand : at.parent;
    things.set(name, { name, parent, how: at?.how ?? "in", badges: [], lid: shape.lids.has(name) ? (shape.closes.size > 0 ? "open" : "closed") : "", agent });
  };
  for (const name of objects) add(name, shape.agents.has(name));
  if (hand === robot && !things.has(robot)) add(robot, true);
  for (const name of shape.spots) add(spotPrefix + name, false);
  const links = new Map<string, [string, string]>();
  for (const { name, args } of atoms) {
    const [a, b] = args;
    if (a === undefined) continue;
    const thing = things.get(a);
    if (args.length === 1 && thing) {
      if (shape.opens.has(name)) thing.lid = "open";
      if (shape.closes.has(name)) thing.lid = "closed";
      if (shape.badges.has(name)) thing.badges.push(name.replace(/[_-]+/g, " "));
    }
    if (args.length === 2 && b !== undefined && a !== b && shape.links.has(name) && things.has(b)) links.set([a, b].sort().join(" "), [a, b]);
  }
  // A place that is no object of the task (a number, a spot) is a thing all the same.
  for (const thing of [...things.values()]) if (thing.parent !== null && !things.has(thing.parent)) add(thing.parent, false);
  return { things, links: [...links.values()] };
}

// What a picture of a large task shows: the first things of `acted`, and what they are in.
export function worthShowing(scenes: Scene[], acted: Set<string>, most: number): Set<string> {
  const all = new Set(scenes.flatMap((scene) => [...scene.things.keys()]));
  const used = new Set<string>();
  for (const scene of scenes) {
    const busy = new Set([...scene.things.values()].flatMap((thing) => (thing.parent === null ? [] : [thing.parent])));
    const linked = new Set(scene.links.flat());
    for (const thing of scene.things.values()) {
      const plays = thing.parent !== null || busy.has(thing.name) || thing.agent || acted.has(thing.name) || thing.badges.length > 0 || thing.lid !== "";
      if (plays || linked.has(thing.name)) used.add(thing.name);
    }
  }
  const shown = used.size <= most ? used : new Set([...acted].filter((name) => all.has(name)).slice(0, most));
  for (const scene of scenes) {
    for (const name of [...shown]) {
      for (let at = scene.things.get(name)?.parent ?? null; at !== null && !shown.has(at); at = scene.things.get(at)?.parent ?? null) shown.add(at);
    }
    for (const thing of scene.things.values()) if (thing.agent) shown.add(thing.name);
  }
  return shown;
}
