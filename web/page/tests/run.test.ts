// The page's logic without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { EventLines, isPlanEvent, type ActionEvent, type EndEvent, type StartEvent, type TokenEvent } from "../src/protocol.js";
import { linkOf, parseReplay, replayOfLink, type Replay } from "../src/replay.js";
import { addEvent, factsAfter, goalsAfter, movedLevel, movedText, newRun, stepOfToken, verdict, wish } from "../src/run.js";

const start: StartEvent = {
  type: "start", task: "t", domain: null, problem: null, model: "m", guidance: "uniform", format: "pddl", decode: "greedy", seed: 0, horizon: 9,
  objects: ["cup"], facts: ["(closed door)", "(wall)"], goals: ["(in cup)", "(never)"], goals_dropped: [1], met: [], prompt: "", prompt_tokens: 1, shortest: 2,
};
function action(index: number, rest: Partial<ActionEvent>): ActionEvent {
  return {
    type: "action", index, action: `(a${index})`, name: "a", arguments: [], first_token: 2 * index, num_tokens: 2, legal: true, why_illegal: "", left: 9,
    candidates: null, wanted: null, added: [], removed: [], met: [], stops: false, ...rest,
  };
}
function token(rest: Partial<TokenEvent>): TokenEvent {
  return {
    type: "token", index: 0, id: 1, text: "x", end: false, forced: false, choices: 2, p_model: 0.1, p_allowed: 0.2, p_guided: 0.9, moved: 0.7, preferred: null, ...rest,
  };
}
function end(rest: Partial<EndEvent>): EndEvent {
  return {
    type: "end", outcome: "plan", plan: [], text: "", guarantee: "full", reason: "all good", valid: true, goals: { met: [], unmet: [], dropped: [] },
    check: null, model_calls: 1, tokens: 2, forced_tokens: 1, tier: null, timings: {}, cached: false, ...rest,
  };
}

test("events are cut at line ends, wherever the pieces end", () => {
  const lines = new EventLines();
  assert.deepEqual(lines.push('data: {"a"'), []);
  assert.deepEqual(lines.push(':1}\r\n\n: keep-alive\ndata:[DONE]\nda'), ['{"a":1}', "[DONE]"]);
  assert.deepEqual(lines.push("ta: 2\n"), ["2"]);
});

test("unknown events are none", () => {
  assert.ok(isPlanEvent({ type: "end" }));
  for (const value of [null, 3, "start", {}, { type: "later" }, { type: 1 }]) assert.ok(!isPlanEvent(value));
});

test("facts and goals follow the actions", () => {
  const run = newRun();
  addEvent(run, start);
  addEvent(run, action(0, { removed: ["(closed door)"], added: ["(open door)"] }));
  addEvent(run, action(1, { added: ["(in cup)"], met: [0] }));
  assert.deepEqual(factsAfter(run, 0).moving, [{ text: "(closed door)", change: "" }]);
  assert.deepEqual(factsAfter(run, 1).moving, [{ text: "(closed door)", change: "removed" }, { text: "(open door)", change: "added" }]);
  assert.deepEqual(factsAfter(run, 2).moving, [{ text: "(in cup)", change: "added" }, { text: "(open door)", change: "" }]);
  assert.deepEqual(factsAfter(run, 2).still, [{ text: "(wall)", change: "" }]);
  assert.deepEqual([...goalsAfter(run, 0)], []);
  assert.deepEqual([...goalsAfter(run, 2)], [0]);
  assert.deepEqual([0, 1, 2, 3, 4].map((index) => stepOfToken(run, index)), [0, 0, 1, 1, 2]);
});

test("what the model wanted is a sentence", () => {
  const wanted = { action: "(putin cup)", stops: false, same: false, allowed: false, standing: "illegal", why_not: "illegal: precondition (open door) is false" };
  assert.deepEqual(wish(action(0, { wanted })), { wanted: "putin cup", why: "it needs “door open”", vetoed: true });
  assert.equal(wish(action(0, { wanted: { ...wanted, same: true } })).wanted, "");
  assert.equal(wish(action(0, {})).wanted, "");
  assert.equal(wish(action(0, { wanted: { ...wanted, action: null } })).wanted, "stop here");
  assert.equal(wish(action(0, { wanted: { ...wanted, allowed: true } })).vetoed, false);
});

test("the verdict names what went wrong", () => {
  const run = newRun();
  assert.equal(verdict(run).kind, "open");
  addEvent(run, start);
  addEvent(run, end({}));
  assert.deepEqual(verdict(run), { short: "Works, guaranteed", text: "0 steps. Every step was known to work before it was written.", kind: "good" });
  addEvent(run, end({ goal: { pddl: "(and (on cup table))", source: "given" } }));
  assert.match(verdict(run).text, /So it is for the goal that was chosen, whatever was meant\./);
  const onTheWay = newRun();
  addEvent(onTheWay, { ...start, goals: [] });
  addEvent(onTheWay, end({}));
  assert.equal(verdict(onTheWay).short, "Nothing to do");
  addEvent(onTheWay, { ...start, goals: [], constraints: 1 });
  addEvent(onTheWay, end({}));
  assert.equal(verdict(onTheWay).short, "Works, guaranteed");
  addEvent(onTheWay, { ...start, goals: [] });
  addEvent(onTheWay, end({ outcome: "infeasible", valid: false, reason: "no goal could be made of it", goal: { pddl: null, source: "instruction" } }));
  assert.equal(verdict(onTheWay).short, "No goal");
  addEvent(onTheWay, end({ goal: { pddl: "(always (not (open door)))", source: "given" } }));
  assert.equal(verdict(onTheWay).short, "Works, guaranteed");
  addEvent(run, end({ goal: { pddl: "(never)", source: "given" }, valid: false, guarantee: "goals dropped", goals: { met: [], unmet: ["(never)"], dropped: ["(never)"] } }));
  assert.match(verdict(run).text, /So it is for the goal that was chosen, whatever was meant\./);
  addEvent(run, end({ valid: false, guarantee: "goals dropped", goals: { met: [], unmet: ["(never)"], dropped: ["(never)"] } }));
  assert.equal(verdict(run).kind, "good");
  assert.match(verdict(run).text, /Given up, .*: never\./);
  addEvent(run, end({ valid: false, guarantee: "none", goals: { met: [], unmet: ["(inside cup box_1)"], dropped: [] } }));
  assert.equal(verdict(run).text, "Ends after 0 steps without: cup inside box 1.");
  addEvent(run, action(0, { legal: false, why_illegal: "precondition (not (open door)) is false" }));
  assert.equal(verdict(run).text, "Breaks at step 1, “a0”: “door open” must not hold.");
  addEvent(run, end({ outcome: "infeasible", reason: "no way" }));
  assert.deepEqual(verdict(run), { short: "Impossible", text: "There is no plan for this task.", kind: "bad" });
  addEvent(run, { type: "error", error: { message: "broken" } });
  assert.deepEqual(verdict(run), { short: "No plan", text: "broken", kind: "bad" });
});

test("a task without a goal is no success", () => {
  const run = newRun();
  addEvent(run, { ...start, goals: [], goals_dropped: [] });
  addEvent(run, end({}));
  assert.equal(verdict(run).kind, "open");
});

test("colours grow with how far a token was moved", () => {
  assert.deepEqual([-0.9, -0.3, -0.1, 0, 0.01, 0.1, 0.3, 0.9].map((moved) => movedLevel(token({ moved }))), [-3, -2, -1, 0, 0, 1, 2, 3]);
  assert.equal(movedLevel(token({ forced: true })), 0);
  assert.equal(movedText(token({})), "+70 %");
  assert.equal(movedText(token({ moved: null })), "");
});

// Node learned this format of the browsers' only in version 20.
function packs(): boolean {
  try {
    new CompressionStream("deflate-raw");
    return true;
  } catch {
    return false;
  }
}

test("a replay survives its link, and a damaged one says so", { skip: !packs() }, async () => {
  const replay: Replay = { metactrl_replay: 1, request: { domain: "d", problem: "p", guidance: "mask" }, events: [{ ...start, t: 0 }, { ...end({}), t: 1.5 }], compare: null, task: { name: "n", domain: "(d)", problem: "(p)" } };
  const link = await linkOf(replay);
  assert.match(link, /^[\w-]+$/);
  assert.deepEqual(await replayOfLink(link), replay);
  assert.deepEqual(parseReplay(JSON.stringify(replay)), replay);
  await assert.rejects(replayOfLink(link.slice(0, -8)), /damaged/);
  await assert.rejects(replayOfLink("!!"), /damaged/);
  // Small as a link, large when unpacked.
  const bomb = deflateRawSync(`${JSON.stringify(replay)}${" ".repeat(21_000_000)}`).toString("base64url");
  assert.ok(bomb.length < 60_000);
  await assert.rejects(replayOfLink(bomb), /damaged/);
  assert.throws(() => parseReplay("no"), /not JSON/);
  assert.throws(() => parseReplay("{}"), /metactrl_replay/);
  assert.throws(() => parseReplay('{"metactrl_replay":2}'), /newer/);
  assert.throws(() => parseReplay('{"metactrl_replay":1,"request":{},"events":[{"type":"end"}]}'), /start/);
});
