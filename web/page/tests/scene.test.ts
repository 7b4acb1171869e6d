// What the picture of a world is made of, for domains of many shapes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { gridOf, layOut, type Frame } from "../src/layout.js";
import { factWords, readDomain, readTrees, sentenceWords } from "../src/pddl.js";
import { findShape, parseState, robot, sceneOf, worthShowing } from "../src/scene.js";

// The parent of each thing that has one, in each state.
function places(domain: string | null, objects: string, states: string[]): Record<string, string>[] {
  const atoms = states.map((facts) => parseState(facts.match(/\([^()]*\)/g) ?? []));
  const watched = atoms.slice(1).map((after, index) => {
    const before = atoms[index] ?? [];
    const texts = (list: typeof after) => new Set(list.map((atom) => JSON.stringify(atom)));
    return {
      added: after.filter((atom) => !texts(before).has(JSON.stringify(atom))),
      deleted: before.filter((atom) => !texts(after).has(JSON.stringify(atom))),
    };
  });
  const shape = findShape(domain === null ? null : readDomain(domain), atoms, watched);
  return atoms.map((state) => {
    const { things } = sceneOf(shape, objects.split(" "), state);
    return Object.fromEntries([...things.values()].flatMap(({ name, parent }) => (parent === null ? [] : [[name, parent]])));
  });
}

const blocks = `(define (domain blocks) (:predicates (on ?x ?y) (ontable ?x) (clear ?x) (handempty) (holding ?x))
  (:action pick-up :parameters (?x) :precondition (and (clear ?x) (ontable ?x) (handempty)) :effect (and (not (ontable ?x)) (not (clear ?x)) (not (handempty)) (holding ?x)))
  (:action put-down :parameters (?x) :precondition (holding ?x) :effect (and (not (holding ?x)) (clear ?x) (handempty) (ontable ?x)))
  (:action stack :parameters (?x ?y) :precondition (and (holding ?x) (clear ?y)) :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (handempty) (on ?x ?y)))
  (:action unstack :parameters (?x ?y) :precondition (on ?x ?y) :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (handempty)) (not (on ?x ?y)))))`;

test("blocks: towers, a table that is a predicate, a hand that is one, too", () => {
  const states = ["(on a b) (ontable b) (ontable c) (clear a) (clear c) (handempty)", "(holding a) (ontable b) (ontable c) (clear b) (clear c)", "(on a c) (ontable b) (ontable c) (clear a) (clear b) (handempty)"];
  assert.deepEqual(places(blocks, "a b c", states), [
    { a: "b", b: "spot:ontable", c: "spot:ontable" },
    { a: robot, b: "spot:ontable", c: "spot:ontable" },
    { a: "c", b: "spot:ontable", c: "spot:ontable" },
  ]);
});

test("a gripper carries balls between rooms", () => {
  const domain = `(define (domain g) (:predicates (at-robby ?r) (at ?b ?r) (free ?g) (carry ?b ?g))
    (:action pick :parameters (?b ?r ?g) :precondition (at ?b ?r) :effect (and (carry ?b ?g) (not (at ?b ?r)) (not (free ?g))))
    (:action drop :parameters (?b ?r ?g) :precondition (carry ?b ?g) :effect (and (at ?b ?r) (free ?g) (not (carry ?b ?g)))))`;
  assert.deepEqual(places(domain, "ball rooma roomb left", ["(at ball rooma) (free left)", "(carry ball left)"]), [{ ball: "rooma" }, { ball: "left" }]);
});

test("who holds what may come first", () => {
  const domain = `(define (domain h) (:predicates (located ?x ?l) (holding ?r ?x) (connected ?a ?b))
    (:action move :parameters (?r ?a ?b) :precondition (located ?r ?a) :effect (and (located ?r ?b) (not (located ?r ?a))))
    (:action take :parameters (?r ?x ?l) :precondition (located ?x ?l) :effect (and (holding ?r ?x) (not (located ?x ?l)))))`;
  const still = "(connected hall lab) (connected lab hall) (connected lab store)";
  assert.deepEqual(places(domain, "robot1 sample hall lab store", [`${still} (located robot1 hall) (located sample lab)`, `${still} (located robot1 lab) (located sample lab)`, `${still} (located robot1 lab) (holding robot1 sample)`]), [
    { robot1: "hall", sample: "lab" }, { robot1: "lab", sample: "lab" }, { robot1: "lab", sample: "robot1" },
  ]);
});

test("without the domain's text, what was seen to change is enough", () => {
  assert.deepEqual(places(null, "pkg truck depot shop", ["(at pkg depot) (at truck depot) (road depot shop)", "(in pkg truck) (at truck depot) (road depot shop)", "(in pkg truck) (at truck shop) (road depot shop)"]), [
    { pkg: "depot", truck: "depot" }, { pkg: "truck", truck: "depot" }, { pkg: "truck", truck: "shop" },
  ]);
});

test("the inner of two places counts", () => {
  const domain = `(define (domain n) (:predicates (inside ?x ?y) (room-of ?x ?r))
    (:action put :parameters (?x ?y ?z) :precondition (inside ?x ?z) :effect (and (inside ?x ?y) (not (inside ?x ?z)))))`;
  const still = "(room-of box kitchen) (room-of cup kitchen) (room-of jar kitchen)";
  assert.deepEqual(places(domain, "cup box jar kitchen", [`${still} (inside cup box)`, `${still} (inside cup jar)`]), [
    { cup: "box", box: "kitchen", jar: "kitchen" }, { cup: "jar", box: "kitchen", jar: "kitchen" },
  ]);
});

test("nothing that is related in circles is a place", () => {
  const rows = places(null, "a b c", ["(next a b) (next b c) (next c a)", "(next a b) (next b c) (next c a)"]);
  assert.deepEqual(rows, [{}, {}]);
});

function overlap(frame: Frame, a: string, b: string): boolean {
  const [p, q] = [frame.boxes.get(a), frame.boxes.get(b)];
  return p !== undefined && q !== undefined && p.x < q.x + q.w && q.x < p.x + p.w && p.y < q.y + q.h && q.y < p.y + p.h;
}

test("things stand inside their places and places do not overlap", () => {
  const states = ["(in a box) (in b box) (on c shelf)", "(in a tray) (in b box) (on c shelf)", "(in a tray) (in b box) (on c box)"].map((facts) => parseState(facts.match(/\([^()]*\)/g) ?? []));
  const shape = findShape(null, states, [{ added: parseState(["(in a tray)", "(on c box)"]), deleted: parseState(["(in a box)", "(on c shelf)"]) }]);
  const objects = ["a", "b", "c", "box", "tray", "shelf"];
  const scenes = states.map((atoms) => sceneOf(shape, objects, atoms));
  const layout = layOut(scenes, worthShowing(scenes, new Set(), 40), [null, "a", "c"]);
  for (const frame of layout.frames) {
    for (const [a, b] of [["box", "tray"], ["box", "shelf"], ["tray", "shelf"], ["a", "b"], ["c", "a"]] as const) assert.ok(!overlap(frame, a, b), `${a} ${b}`);
    for (const box of frame.boxes.values()) assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.w <= layout.width && box.y + box.h <= layout.height);
  }
  // Places do not move.
  for (const name of ["box", "tray", "shelf"]) assert.deepEqual(layout.frames[2]?.boxes.get(name), layout.frames[0]?.boxes.get(name));
});

test("linked places are neighbours on the grid, each in a cell of its own", () => {
  const names = Array.from({ length: 9 }, (_, i) => `p${i}`);
  const links = names.slice(1).map((name, i): [string, string] => [`p${i}`, name]);
  const grid = gridOf(names, links);
  assert.equal(new Set([...grid.values()].map((cell) => cell.join())).size, 9);
  const near = links.filter(([a, b]) => {
    const [[ax, ay], [bx, by]] = [grid.get(a) ?? [0, 0], grid.get(b) ?? [9, 9]];
    return Math.abs(ax - bx) + Math.abs(ay - by) === 1;
  });
  assert.ok(near.length >= 6, `only ${near.length} of 8 links are short`);
});

test("of a large task what is acted on is shown, and what it is in", () => {
  const objects = Array.from({ length: 200 }, (_, i) => `o${i}`);
  const facts = objects.slice(1).map((name) => `(in ${name} o0)`);
  const shape = findShape(null, [parseState(facts)], [{ added: parseState(["(in o5 o0)"]), deleted: [] }]);
  const scenes = [sceneOf(shape, objects, parseState(facts))];
  assert.deepEqual([...worthShowing(scenes, new Set(["o5", "o6"]), 40)].sort(), ["o0", "o5", "o6"]);
});

test("facts in words, and texts that are no PDDL read as nothing", () => {
  assert.equal(factWords("(inside orange_1 pot)"), "orange 1 inside pot");
  assert.equal(factWords("(not (switched-on stove))"), "not: stove switched on");
  assert.equal(sentenceWords("precondition (open box_1) is false"), "it needs “box 1 open”");
  assert.deepEqual(readTrees("(a (b"), []);
  assert.deepEqual(readTrees(")"), []);
  assert.deepEqual(readTrees("(".repeat(100_000)), []);
  assert.equal(readDomain("no"), null);
});
