// The service under the official OpenAI client: streaming and not, plans, tools and errors.
//
//     node openai_test.js PROGRAM
//
// The package `openai` is looked for in the folder METACTRL_NODE_MODULES, or beside this file. Ends with 77 (skipped) when it is
// not there: scripts/test installs it, and so does
//
//     mkdir -p build/openai && cp tests/serve/package*.json build/openai && npm ci --prefix build/openai
//
// The package asks for Node 20; what is used of it here works with Node 18, too, which Debian 12 has.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";

const modules = process.env.METACTRL_NODE_MODULES;
const require = createRequire(modules ? path.join(modules, "index.js") : import.meta.url);
let OpenAI;
try {
  ({ OpenAI } = require("openai"));
} catch {
  console.log("skipped: the package openai is not installed; the head of openai_test.js says how to");
  process.exit(77);
}

const key = "sesame";
const server = spawn(process.argv[2], ["serve", "--port", "0"], {
  env: { ...process.env, METACTRL_API_KEY: key },
  stdio: ["ignore", "inherit", "pipe"],
});
const address = await new Promise((resolve, reject) => {
  let text = "";
  server.stderr.on("data", (data) => {
    text += data;
    const found = text.match(/listening at (http:\/\/\S+)/);
    if (found) resolve(found[1]);
  });
  server.on("exit", (code) => reject(new Error(`the server ended with code ${code}: ${text}`)));
});

const client = new OpenAI({ baseURL: `${address}/v1`, apiKey: key, maxRetries: 0 });
const messages = [{ role: "user", content: "Put the dishes into the dishwasher." }];
const plan = { domain: "tabletop", problem: "dishwasher" };

async function fails(call, status, code) {
  try {
    await call();
  } catch (error) {
    assert(error instanceof OpenAI.APIError, String(error));
    assert.equal(error.status, status);
    assert.equal(error.code, code);
    return error;
  }
  assert.fail(`no error ${status} ${code}`);
}

const tests = {
  async models() {
    const models = await client.models.list();
    assert.equal(models.data.length, 1);
    assert.equal(models.data[0].object, "model");
    assert.deepEqual(await client.models.retrieve(models.data[0].id), models.data[0]);
  },
  async chat_with_a_plan() {
    const model = (await client.models.list()).data[0].id;
    const answer = await client.chat.completions.create({ model, messages, plan });
    assert.equal(answer.choices[0].finish_reason, "stop");
    assert.equal(answer.choices[0].message.content, answer.plan.text);
    assert.match(answer.plan.text, /^\(open dishwasher\)\n/);
    assert.equal(answer.plan.guarantee, "full");
    assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
  },
  async chat_with_a_plan_streamed() {
    const stream = await client.chat.completions.create({
      messages,
      plan: { ...plan, trace: true },
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let result = null;
    let usage = null;
    const events = {};
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta?.content ?? "";
      result = chunk.plan ?? result;
      usage = chunk.usage ?? usage;
      if (chunk.plan_event) events[chunk.plan_event.type] = (events[chunk.plan_event.type] ?? 0) + 1;
    }
    assert.equal(text, result.text);
    assert.equal(events.start, 1);
    assert.equal(events.token, usage.completion_tokens);
    assert.equal(events.action, result.plan.length);
  },
  async chat_stream_helper() {
    const model = (await client.models.list()).data[0].id;
    const runner = client.chat.completions.stream({ model, messages, plan });
    const answer = await runner.finalChatCompletion();
    assert.match(answer.choices[0].message.content, /dishwasher/);
  },
  async chat_in_words() {
    const request = { messages, max_tokens: 16, temperature: 0 };
    const answer = await client.chat.completions.create(request);
    const stream = await client.chat.completions.create({ ...request, stream: true });
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.delta?.content ?? "";
    assert.equal(text, answer.choices[0].message.content);
  },
  async completions() {
    const answer = await client.completions.create({ prompt: "Plan:\n", max_tokens: 8, temperature: 0 });
    assert.equal(typeof answer.choices[0].text, "string");
    const planned = await client.completions.create({ prompt: "Clean up.", plan });
    assert.equal(planned.plan.guarantee, "full");
  },
  async tools_become_calls() {
    const tasks = await (await fetch(`${address}/v1/tasks`, { headers: { Authorization: `Bearer ${key}` } })).json();
    const domain = tasks.domains.find((one) => one.name === "tabletop").text;
    const tools = [...domain.matchAll(/\(:action\s+(\S+)\s+:parameters\s+\(([^)]*)\)/g)].map(([, name, list]) => {
      const properties = Object.fromEntries([...list.matchAll(/\?(\S+)/g)].map(([, each]) => [each, { type: "string" }]));
      return { type: "function", function: { name, parameters: { type: "object", properties } } };
    });
    assert(tools.length > 1);
    const answer = await client.chat.completions.create({ messages, plan, tools });
    assert.equal(answer.choices[0].finish_reason, "tool_calls");
    const calls = answer.choices[0].message.tool_calls;
    assert.equal(calls.length, answer.plan.plan.length);
    calls.forEach((call, i) => {
      assert.equal(call.function.name, answer.plan.plan[i].action);
      assert.deepEqual(Object.values(JSON.parse(call.function.arguments)), answer.plan.plan[i].arguments);
    });
    const streamed = await client.chat.completions.stream({ messages, plan, tools }).finalChatCompletion();
    assert.deepEqual(
      streamed.choices[0].message.tool_calls.map((call) => call.function.name),
      calls.map((call) => call.function.name),
    );
  },
  // An agent's loop, one call a turn, in a world where every third call fails and a lamp goes out by itself.
  async tool_results_are_gone_on_from() {
    const lamps = ["a", "b", "c", "d", "e", "f"];
    const task = {
      domain: `(define (domain lamps) (:predicates (lit ?l) (dark ?l))
        (:action press :parameters (?l) :precondition (dark ?l) :effect (and (lit ?l) (not (dark ?l)))))`,
      problem: `(define (problem p) (:domain lamps) (:objects ${lamps.join(" ")}) (:init ${lamps.map((l) => `(dark ${l})`).join(" ")})
        (:goal (and ${lamps.map((l) => `(lit ${l})`).join(" ")})))`,
    };
    const tools = [
      { type: "function", function: { name: "press", parameters: { type: "object", properties: { lamp: { type: "string" } } } } },
    ];
    const conversation = [{ role: "user", content: "Light all lamps." }];
    const lit = new Set();
    let turns = 0;
    for (; turns < 40; ++turns) {
      const answer = await client.chat.completions.create({ messages: conversation, plan: task, tools, parallel_tool_calls: false });
      assert.equal(answer.plan.guarantee, "full");
      const { message, finish_reason } = answer.choices[0];
      if (finish_reason === "stop") break;
      assert.equal(message.tool_calls.length, 1);
      conversation.push(message);
      const { lamp } = JSON.parse(message.tool_calls[0].function.arguments);
      let content = "done";
      if (turns % 3 === 2) {
        content = JSON.stringify({ ok: false });
      } else {
        lit.add(lamp);
        if (turns === 4) {
          const [gone] = lit;
          lit.delete(gone);
          content = JSON.stringify({ facts: [`(dark ${gone})`], not: [`(lit ${gone})`] });
        }
      }
      conversation.push({ role: "tool", tool_call_id: message.tool_calls[0].id, content });
    }
    assert.equal(lit.size, lamps.length);
    assert(turns >= 10, `${turns} turns`);
  },
  // The client's own loop: it calls the functions and sends back what they return, until there is nothing left to call. Every third
  // call does nothing, and once something happens that nobody asked for. The goal stands beside a problem that has none.
  async the_clients_own_loop() {
    const rooms = ["hall", "kitchen", "cellar", "attic"];
    const at = { robot: "hall", parcel: "cellar", letter: "attic" };
    const held = { thing: null };
    const task = {
      domain: `(define (domain house) (:requirements :typing :negative-preconditions) (:types room thing)
        (:predicates (robot-at ?r - room) (at ?t - thing ?r - room) (held ?t - thing) (free))
        (:action go :parameters (?from - room ?to - room) :precondition (robot-at ?from) :effect (and (robot-at ?to) (not (robot-at ?from))))
        (:action take :parameters (?t - thing ?r - room) :precondition (and (robot-at ?r) (at ?t ?r) (free)) :effect (and (held ?t) (not (at ?t ?r)) (not (free))))
        (:action drop :parameters (?t - thing ?r - room) :precondition (and (robot-at ?r) (held ?t)) :effect (and (at ?t ?r) (free) (not (held ?t)))))`,
      problem: `(define (problem p) (:domain house) (:objects ${rooms.join(" ")} - room parcel letter - thing)
        (:init (robot-at hall) (at parcel cellar) (at letter attic) (free)))`,
      goal: "(and (at parcel kitchen) (at letter kitchen) (robot-at hall))",
    };
    let calls = 0;
    const attempt = (act) => {
      calls += 1;
      if (calls % 3 === 0) return { ok: false, why: "slipped" };
      act();
      if (calls !== 8) return "done";
      // The wind takes the letter, wherever it is, back to the attic.
      if (held.thing === "letter") held.thing = null;
      const gone = at.letter;
      at.letter = "attic";
      const not = gone === "attic" ? [] : [gone === null ? "(held letter)" : `(at letter ${gone})`];
      return { facts: ["(at letter attic)", ...(gone === null ? ["(free)"] : [])], not };
    };
    const functions = {
      go: (from, to) => attempt(() => (assert.equal(at.robot, from), (at.robot = to))),
      take: (thing, room) => attempt(() => (assert.deepEqual([at.robot, at[thing], held.thing], [room, room, null]), (at[thing] = null), (held.thing = thing))),
      drop: (thing, room) => attempt(() => (assert.deepEqual([at.robot, held.thing], [room, thing]), (at[thing] = room), (held.thing = null))),
    };
    const tools = Object.entries(functions).map(([name, call]) => ({
      type: "function",
      function: {
        name,
        parameters: { type: "object", properties: { first: { type: "string" }, second: { type: "string" } } },
        parse: JSON.parse,
        function: ({ first, second }) => call(first, second),
      },
    }));
    let turns = 0;
    const runner = client.chat.completions
      .runTools({ model: "pocket", messages: [{ role: "user", content: "Bring the post." }], tools, plan: task, parallel_tool_calls: false }, { maxChatCompletions: 60 })
      .on("chatCompletion", (completion) => {
        turns += 1;
        assert.equal(completion.plan.guarantee, "full");
      });
    const last = await runner.finalChatCompletion();
    assert.equal(last.choices[0].finish_reason, "stop");
    assert.deepEqual(at, { robot: "hall", parcel: "kitchen", letter: "kitchen" });
    assert(turns >= 10, `${turns} turns`);
  },
  // The same shape of loop by /v1/responses: items in, items out.
  async responses_go_on() {
    const lamps = ["a", "b", "c", "d", "e", "f", "g"];
    const task = {
      domain: `(define (domain lamps) (:predicates (lit ?l) (dark ?l))
        (:action press :parameters (?l) :precondition (dark ?l) :effect (and (lit ?l) (not (dark ?l)))))`,
      problem: `(define (problem p) (:domain lamps) (:objects ${lamps.join(" ")}) (:init ${lamps.map((l) => `(dark ${l})`).join(" ")}))`,
      goal: `(forall (?l) (lit ?l))`,
    };
    const tools = [{ type: "function", name: "press", parameters: { type: "object", properties: { lamp: { type: "string" } } } }];
    const input = [{ role: "user", content: "Light all lamps." }];
    const lit = new Set();
    let turns = 0;
    for (; turns < 40; ++turns) {
      const answer = await client.responses.create({ model: "pocket", input, plan: task, tools, parallel_tool_calls: false });
      assert.equal(answer.plan.guarantee, "full");
      const call = answer.output.find((item) => item.type === "function_call");
      if (!call) break;
      const done = turns % 3 !== 1;
      if (done) lit.add(JSON.parse(call.arguments).lamp);
      input.push(call, { type: "function_call_output", call_id: call.call_id, output: JSON.stringify({ ok: done }) });
    }
    assert.equal(lit.size, lamps.length);
    assert(turns >= 10, `${turns} turns`);
  },
  async responses() {
    const answer = await client.responses.create({ model: "pocket", input: "Put the dishes into the dishwasher.", plan });
    assert.equal(answer.output_text, answer.plan.text);
    assert.equal(answer.plan.guarantee, "full");
    const stream = client.responses.stream({ model: "pocket", input: "Put the dishes into the dishwasher.", plan });
    // Only answers that come whole get an output_text from the client.
    assert.equal((await stream.finalResponse()).output[0].content[0].text, answer.output_text);
    await fails(() => client.responses.create({ model: "pocket", input: "x", previous_response_id: "resp_1" }), 400, "bad_request");
  },
  // No goal in the problem: what the user said becomes one, which is shown before it is planned for.
  async goals_from_words() {
    const lamps = {
      domain: `(define (domain lamps) (:predicates (lit ?l)) (:action press :parameters (?l) :precondition (not (lit ?l)) :effect (lit ?l)))`,
      problem: "(define (problem p) (:domain lamps) (:objects hall kitchen) (:init))",
    };
    const words = [{ role: "user", content: "The hall and the kitchen lit, please." }];
    const error = await fails(() => client.chat.completions.create({ messages: words, plan: lamps }), 422, "not_confirmed");
    const shown = error.error.plan.goal.hypotheses[0];
    assert(shown.words.length > 0);
    const answer = await client.chat.completions.create({ messages: words, plan: { ...lamps, goal: shown.pddl } });
    assert.equal(answer.plan.guarantee, "full");
    const unseen = await client.chat.completions.create({ messages: words, plan: { ...lamps, yes: true } });
    assert.equal(unseen.plan.goal.pddl, shown.pddl);
    await fails(() => client.chat.completions.create({ messages: [{ role: "user", content: "" }], plan: lamps }), 400, "no_goal");
  },
  async several_choices_with_probabilities() {
    const settings = { temperature: 1, seed: 3, top_k: 5, min_p: 0.01, frequency_penalty: 0.5, presence_penalty: 0.5, logit_bias: { 5: -100 } };
    const answer = await client.chat.completions.create({ messages, max_tokens: 8, n: 2, logprobs: true, top_logprobs: 2, ...settings });
    assert.equal(answer.choices.length, 2);
    for (const { logprobs } of answer.choices) {
      assert(logprobs.content.length > 0);
      for (const one of logprobs.content) assert(one.logprob <= 0 && one.top_logprobs.length === 2);
    }
    const planned = await client.chat.completions.create({ messages, plan, n: 2, logprobs: true, ...settings });
    assert.deepEqual(planned.choices.map((choice) => choice.plan.guarantee), ["full", "full"]);
    assert.equal(planned.choices[0].logprobs.content.map((one) => one.token).join(""), planned.choices[0].message.content);
  },
  async a_format_of_ones_own() {
    const format = { item: "{action}({arguments})", separator: "; ", close: "." };
    const answer = await client.chat.completions.create({ messages, plan: { ...plan, format } });
    assert.match(answer.choices[0].message.content, /^open\(dishwasher\); .*\.$/);
    await fails(() => client.chat.completions.create({ messages, plan: { ...plan, format: { item: "x" } } }), 400, "bad_format");
  },
  async tools_without_a_plan_are_refused() {
    const tools = [{ type: "function", function: { name: "open", parameters: { type: "object", properties: {} } } }];
    const error = await fails(() => client.chat.completions.create({ messages, tools }), 400, "tools_not_supported");
    assert.equal(error.param, "tools");
  },
  async errors() {
    await fails(() => client.chat.completions.create({ model: "gpt-4", messages }), 404, "model_not_found");
    await fails(() => client.chat.completions.create({ messages: [] }), 400, "bad_request");
    const pddl = { ...plan, problem: "(define (problem x)" };
    const error = await fails(() => client.chat.completions.create({ messages, plan: pddl }), 400, "bad_pddl");
    assert.equal(error.error.diagnostics[0].file, "problem");
    const hopeless = {
      domain: "(define (domain d) (:predicates (a) (b)) (:action x :parameters () :precondition (a) :effect (b)))",
      problem: "(define (problem p) (:domain d) (:init) (:goal (b)))",
    };
    await fails(() => client.chat.completions.create({ messages, plan: hopeless }), 422, "infeasible");
    await fails(() => client.chat.completions.create({ messages, plan: hopeless, stream: true }), 422, "infeasible");
    const stranger = new OpenAI({ baseURL: `${address}/v1`, apiKey: "wrong", maxRetries: 0 });
    await fails(() => stranger.models.list(), 401, "invalid_api_key");
  },
  async cancelling() {
    const stream = await client.chat.completions.create({ messages, max_tokens: 2000, temperature: 1, stream: true });
    for await (const chunk of stream) {
      assert(chunk.id);
      stream.controller.abort();
      break;
    }
    const metrics = async () =>
      (await fetch(`${address}/metrics`, { headers: { Authorization: `Bearer ${key}` } })).text();
    for (let i = 0; i < 1000 && !(await metrics()).includes("metactrl_requests_running 0"); ++i) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert((await metrics()).includes("metactrl_requests_running 0"));
  },
};

let failures = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok ${name}`);
  } catch (error) {
    failures += 1;
    console.log(`FAILED ${name}: ${error.stack}`);
  }
}
server.removeAllListeners("exit");
const ended = new Promise((resolve) => server.on("exit", resolve));
server.kill("SIGTERM");
const code = await ended;
if (code !== 0) console.log(`FAILED the server ended with code ${code}`);
process.exit(failures > 0 || code !== 0 ? 1 : 0);
