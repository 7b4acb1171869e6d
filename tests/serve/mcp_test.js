// The service under the official clients of the Model Context Protocol: over pipes and over HTTP, with the handshake and without.
//
//     node mcp_test.js PROGRAM
//
// The packages `@modelcontextprotocol/client` and `@modelcontextprotocol/sdk` are looked for in the folder METACTRL_NODE_MODULES, or beside this file. Ends with
// 77 (skipped) when they are not there: scripts/check installs them, and so does what the head of openai_test.js says.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";

const modules = process.env.METACTRL_NODE_MODULES;
const require = createRequire(modules ? path.join(modules, "index.js") : import.meta.url);
const kinds = [];
try {
  const current = {
    ...(await import(require.resolve("@modelcontextprotocol/client"))),
    ...(await import(require.resolve("@modelcontextprotocol/client/stdio"))),
  };
  const older = {
    ...(await import(require.resolve("@modelcontextprotocol/sdk/client/index.js"))),
    ...(await import(require.resolve("@modelcontextprotocol/sdk/client/stdio.js"))),
    ...(await import(require.resolve("@modelcontextprotocol/sdk/client/streamableHttp.js"))),
  };
  kinds.push({ name: "sdk", package: older, options: {} });
  kinds.push({ name: "client, handshake", package: current, revision: "2025-11-25", options: {} });
  kinds.push({ name: "client, auto", package: current, revision: "2026-07-28", options: { versionNegotiation: { mode: "auto" } } });
  kinds.push({ name: "client, 2026-07-28", package: current, revision: "2026-07-28", options: { versionNegotiation: { mode: { pin: "2026-07-28" } } } });
} catch (error) {
  console.log(`skipped: the package @modelcontextprotocol/client or sdk is not installed; the head of mcp_test.js says how to (${error.code})`);
  process.exit(77);
}

const program = process.argv[2];
const key = "sesame";
const server = spawn(program, ["serve", "--port", "0"], { env: { ...process.env, METACTRL_API_KEY: key }, stdio: ["ignore", "inherit", "pipe"] });
const address = await new Promise((resolve, reject) => {
  let text = "";
  server.stderr.on("data", (data) => {
    text += data;
    const found = text.match(/listening at (http:\/\/\S+)/);
    if (found) resolve(found[1]);
  });
  server.on("exit", (code) => reject(new Error(`the server ended with code ${code}: ${text}`)));
});

function transport(kind, over) {
  if (over === "pipes") return new kind.package.StdioClientTransport({ command: program, args: ["mcp"] });
  return new kind.package.StreamableHTTPClientTransport(new URL(`${address}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
  });
}

const task = { domain: "tabletop", problem: "dishwasher" };

// Counting in binary to the largest number of so many bits: nothing short of counting leads there.
function counting(bits) {
  const names = Array.from({ length: bits }, (_, i) => `(b${i})`);
  const not = (name) => `(not ${name})`;
  const actions = names.map((name, i) => {
    const lower = names.slice(0, i);
    return `(:action inc${i} :parameters () :precondition (and ${[not(name), ...lower].join(" ")}) :effect (and ${[name, ...lower.map(not)].join(" ")}))`;
  });
  return {
    domain: `(define (domain counter) (:requirements :strips :negative-preconditions) (:predicates ${names.join(" ")}) ${actions.join(" ")})`,
    problem: `(define (problem count) (:domain counter) (:init) (:goal (and ${names.join(" ")})))`,
  };
}

// The agent's own loop, an action a turn: is the rest of the plan still one, by what holds now? If not, it plans again; then it takes a step. In this world every third attempt does
// nothing, and in the fifth turn somebody carries the letter away.
async function loop(client) {
  const domain = `(define (domain post) (:requirements :typing) (:types room thing)
    (:predicates (robot ?r - room) (at ?t - thing ?r - room) (door ?a ?b - room) (held ?t - thing) (free))
    (:action go :parameters (?a ?b - room) :precondition (and (robot ?a) (door ?a ?b)) :effect (and (robot ?b) (not (robot ?a))))
    (:action take :parameters (?t - thing ?r - room) :precondition (and (robot ?r) (at ?t ?r) (free)) :effect (and (held ?t) (not (at ?t ?r)) (not (free))))
    (:action drop :parameters (?t - thing ?r - room) :precondition (and (robot ?r) (held ?t)) :effect (and (at ?t ?r) (free) (not (held ?t)))))`;
  const at = { robot: "hall", parcel: "attic", letter: "hall" };
  let held = null;
  const acts = {
    go: (from, to) => (assert.equal(at.robot, from), (at.robot = to)),
    take: (thing, room) => (assert.deepEqual([at.robot, at[thing], held], [room, room, null]), (at[thing] = null), (held = thing)),
    drop: (thing, room) => (assert.deepEqual([at.robot, held], [room, thing]), (at[thing] = room), (held = null)),
  };
  const doors = [["hall", "kitchen"], ["hall", "attic"]].flatMap(([a, b]) => [`(door ${a} ${b})`, `(door ${b} ${a})`]);
  let failed = 0;
  let plans = 0;
  let rest = null;
  for (let turn = 1; turn <= 40; ++turn) {
    const things = ["parcel", "letter"].map((thing) => (held === thing ? `(held ${thing})` : `(at ${thing} ${at[thing]})`));
    const facts = [`(robot ${at.robot})`, ...things, ...(held === null ? ["(free)"] : []), ...doors].join(" ");
    const problem = `(define (problem p) (:domain post) (:objects hall kitchen attic - room parcel letter - thing) (:init ${facts})
      (:goal (and (at parcel kitchen) (at letter kitchen) (robot hall))))`;
    const call = async (name, more) => (await client.callTool({ name, arguments: { domain, problem, ...more } })).structuredContent;
    if (rest === null || !(await call("validate", { plan: rest })).valid) {
      const answer = await call("plan", {});
      assert.equal(answer.guarantee, "full");
      rest = answer.plan;
      plans += 1;
    }
    if (rest.length === 0) {
      assert.deepEqual([at, held], [{ robot: "hall", parcel: "kitchen", letter: "kitchen" }, null]);
      assert(turn > 10 && failed > 2 && plans > 2, `${turn} turns, ${failed} failures, ${plans} plans`);
      return;
    }
    const [step, ...others] = rest;
    const text = `(${[step.action, ...step.arguments].join(" ")})`;
    assert.equal((await call("explain", { action: text })).asked.standing, "allowed");
    rest = others;
    if (turn === 5) [at.letter, held] = ["attic", held === "letter" ? null : held];
    if (turn % 3 === 0 || turn === 5) failed += 1;
    else acts[step.action](...step.arguments);
  }
  assert.fail("the goal was not reached in 40 turns");
}

async function session(kind, over) {
  const client = new kind.package.Client({ name: "test", version: "1" }, kind.options);
  await client.connect(transport(kind, over));
  assert.equal(client.getServerVersion().name, "metactrl");
  // Which of the two revisions is spoken, as the client has it: the older one has no such word, and no other revision.
  if (client.getNegotiatedProtocolVersion) assert.equal(client.getNegotiatedProtocolVersion(), kind.revision);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map((tool) => tool.name),
    ["plan", "search", "write_goal", "validate", "explain"],
  );
  const told = [];
  const planned = await client.callTool({ name: "plan", arguments: task }, ...onprogress(kind, (progress) => told.push(progress.message)));
  assert.equal(planned.structuredContent.guarantee, "full");
  // All of it is sent before the answer; clients may drop the last ones when both come at once.
  const steps = planned.structuredContent.plan.map((step) => `(${[step.action, ...step.arguments].join(" ")})`);
  assert(told.length > 0);
  assert.deepEqual(told, steps.slice(0, told.length));
  // What is wanted in words: goals to look at, and one of them to plan for.
  const open = { ...task, instruction: "Put the blue mug inside the dishwasher, and cup_9." };
  const written = await client.callTool({ name: "write_goal", arguments: { ...open, hypotheses: 2 } });
  assert.equal(written.structuredContent.outcome, "goals", JSON.stringify(written));
  assert(written.structuredContent.goals.length >= 1 && written.structuredContent.goals.length <= 2);
  assert.match(written.structuredContent.missing[0], /^cup_9/);
  const { goal } = written.structuredContent.goals[0];
  const meant = await client.callTool({ name: "plan", arguments: { ...task, goal } });
  assert.equal(meant.structuredContent.guarantee, "full");
  assert.deepEqual(meant.structuredContent.goal, { pddl: goal, source: "given" });
  const judged = await client.callTool({ name: "validate", arguments: { ...task, plan: planned.structuredContent.plan } });
  assert.equal(judged.structuredContent.valid, true);
  const searched = await client.callTool({ name: "search", arguments: task });
  assert.equal(searched.structuredContent.outcome, "plan");
  const explained = await client.callTool({ name: "explain", arguments: { ...task, action: "(putin blue_mug dishwasher)" } });
  assert.equal(explained.structuredContent.asked.standing, "illegal");
  const refused = await client.callTool({ name: "plan", arguments: { ...task, horizont: 3 } });
  assert.equal(refused.isError, true);
  assert.match(refused.content[0].text, /horizon/);
  await assert.rejects(client.callTool({ name: "nothing", arguments: {} }), /nothing/i);
  await loop(client);
  // A call that would take minutes is taken back: others are answered meanwhile, and afterwards.
  const stop = new AbortController();
  const slow = client.callTool({ name: "plan", arguments: counting(60) }, ...options(kind, { signal: stop.signal }));
  const ended = assert.rejects(slow);
  assert.equal((await client.callTool({ name: "search", arguments: task })).structuredContent.outcome, "plan");
  stop.abort();
  await ended;
  assert.equal((await client.callTool({ name: "search", arguments: task })).structuredContent.outcome, "plan");
  await client.close();
}

// The older client has the result's schema as an argument between.
function options(kind, given) {
  return kind.name === "sdk" ? [undefined, given] : [given];
}
function onprogress(kind, tell) {
  return options(kind, { onprogress: tell });
}

let failures = 0;
for (const kind of kinds) {
  for (const over of ["pipes", "http"]) {
    try {
      await session(kind, over);
      console.log(`ok ${kind.name} over ${over}`);
    } catch (error) {
      failures += 1;
      console.log(`FAILED ${kind.name} over ${over}: ${error.stack}`);
    }
  }
}
server.removeAllListeners("exit");
const ended = new Promise((resolve) => server.on("exit", resolve));
server.kill("SIGTERM");
const code = await ended;
if (code !== 0) console.log(`FAILED the server ended with code ${code}`);
process.exit(failures > 0 || code !== 0 ? 1 : 0);
