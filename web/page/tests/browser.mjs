// The page in a real browser against the real service:
//
//     node tests/browser.mjs METACTRL SCREENSHOTS
//
// Every story is what a person does, on a laptop or a phone, in light or dark. Needs Chromium ($CHROMIUM, or
// /usr/bin/chromium), or with BROWSER=firefox Firefox ($FIREFOX, or /usr/bin/firefox-esr). Screenshots go to SCREENSHOTS.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { deflateRawSync } from "node:zlib";
import { accessible, asked, choose, finished, firefox, fits, Harness, label, laptop, phone, planned, pressPlan, ready, startBrowser, startService, text, texts, write } from "./harness.mjs";

const [binary, folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node tests/browser.mjs METACTRL SCREENSHOTS");
mkdirSync(folder, { recursive: true });

const service = await startService(binary);
const browser = await startBrowser();
const harness = new Harness(browser, service.address);
const open = (path, options) => harness.open(path, options);
const shoot = (page, name) => page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });

const rooms = {
  domain: `(define (domain rooms)
  (:predicates (located ?x ?l) (holding ?r ?x) (connected ?a ?b) (free ?r) (robot ?r))
  (:action move :parameters (?r ?a ?b) :precondition (and (robot ?r) (located ?r ?a) (connected ?a ?b)) :effect (and (located ?r ?b) (not (located ?r ?a))))
  (:action take :parameters (?r ?x ?l) :precondition (and (robot ?r) (located ?r ?l) (located ?x ?l) (free ?r) (not (robot ?x))) :effect (and (holding ?r ?x) (not (located ?x ?l)) (not (free ?r))))
  (:action give :parameters (?r ?x ?l) :precondition (and (located ?r ?l) (holding ?r ?x)) :effect (and (located ?x ?l) (free ?r) (not (holding ?r ?x)))))`,
  problem: `(define (problem errand) (:domain rooms) (:objects robot1 sample hall lab store ward)
  (:init (robot robot1) (free robot1) (located robot1 hall) (located sample ward)
         (connected hall lab) (connected lab hall) (connected hall ward) (connected ward hall) (connected lab store) (connected store lab))
  (:goal (located sample store)))`,
};

const stories = {
  async "it opens on a run where the model alone fails"() {
    const page = await open("/", { motion: "no-preference" });
    await ready(page);
    await finished(page, "guided");
    assert.match(await text(page, "#headline"), /the model alone forgets the pot/);
    assert.match(await text(page, "#bare .pill"), /Fails/);
    assert.match(await text(page, "#bare .status"), /without: pot on stove/);
    assert.match(await text(page, "#guided .pill"), /Works, guaranteed/);
    assert.ok((await texts(page, "#guided .veto")).length > 0, "no veto on the timeline");
    assert.equal((await texts(page, ".lead button:not([hidden])")).length, 1);
    await fits(page, "opening");
    // The whole of it, the service's answers included.
    assert.ok(firefox || (page.bytes > 50_000 && page.bytes <= 300_000), `${page.bytes} bytes for the first load`);
    // It plays by itself, however busy the machine is, and things move.
    await page.waitForFunction(() => document.querySelector("#where").textContent === "step 8 of 8");
    const last = await label(page, "#guided svg.world");
    assert.match(last, /syrup in pot/);
    assert.match(last, /pot on stove/);
    assert.doesNotMatch(await label(page, "#bare svg.world"), /pot on stove/);
    await shoot(page, "opening");
    // And once more.
    await page.click("#first");
    assert.match(await label(page, "#guided svg.world"), /syrup in fridge;/);
    await page.click("#play");
    await page.waitForFunction(() => /step [1-8] of 8/.test(document.querySelector("#where").textContent));
  },

  async "a plan is made, watched and compared"() {
    const page = await open("/");
    await ready(page);
    await choose(page, { task: "tabletop/dishwasher" });
    await page.keyboard.down("Control");
    await page.keyboard.press("Enter");
    await page.keyboard.up("Control");
    await page.waitForFunction(() => document.querySelector("#headline").textContent === "Dishwasher");
    await planned(page);
    assert.match(await text(page, "#guided .pill"), /guaranteed/);
    assert.match(await text(page, "#bare .pill"), /Works|Fails/);
    const plan = await texts(page, "#guided .action");
    assert.ok(plan.length >= 3, `only ${plan.length} actions`);
    assert.equal((await texts(page, "#guided .goals .open")).length, 0);
    // Text and tokens on demand; the keyboard reaches every token, and the world goes with it.
    const end = await label(page, "#guided svg.world");
    await page.$eval("#guided .text-box", (node) => { node.open = true; });
    assert.ok((await texts(page, "#guided .token.forced")).length > 1);
    assert.ok((await texts(page, "#guided .token.chosen")).length > 1);
    await page.focus("#guided .text");
    await page.keyboard.press("Home");
    assert.match(await text(page, "#guided .note"), /forced|one of/);
    assert.equal(await text(page, "#where"), "start");
    assert.notEqual(await label(page, "#guided svg.world"), end);
    // A step on the timeline, and the slider.
    await page.$$eval("#guided .action", (nodes) => nodes[1].click());
    assert.equal(await text(page, "#where"), `step 2 of ${plan.length}`);
    assert.equal((await texts(page, "#guided .current")).length, 1);
    await page.focus("#slider");
    await page.keyboard.press("ArrowRight");
    assert.equal(await text(page, "#where"), `step 3 of ${plan.length}`);
    await page.$eval("#guided .fact-box", (node) => { node.open = true; });
    assert.ok((await texts(page, "#guided .facts .added")).length > 0);
    await accessible(page, "a plan with everything open");
  },

  async "the world of any domain is a picture"() {
    const page = await open("/");
    await ready(page);
    await write(page, "domain", rooms.domain);
    await write(page, "problem", rooms.problem);
    await page.waitForSelector("#mistakes .fine");
    await choose(page, { compare: "" });
    await pressPlan(page);
    assert.match(await text(page, "#guided .pill"), /guaranteed/);
    assert.ok((await page.$$("#guided .links line")).length >= 3, "rooms are not linked");
    assert.match(await label(page, "#guided svg.world"), /sample in store/);
    await page.click("#first");
    assert.match(await label(page, "#guided svg.world"), /sample in ward; .*|robot1 in hall/);
    assert.equal(await page.$eval("#bare", (node) => node.hidden), true);
    await shoot(page, "rooms");
  },

  async "mistakes are shown in place while one types"() {
    const page = await open("/");
    await ready(page);
    await write(page, "domain", rooms.domain);
    await write(page, "problem", rooms.problem.replace("(located robot1 hall)", "(locatet robot1 hall)"));
    await page.waitForSelector("#problem >>> .cm-lintRange-error");
    assert.match(await text(page, "#mistakes"), /problem 2:\d+ .*locatet/);
    assert.ok((await page.$$("#problem >>> .cm-lineNumbers .cm-gutterElement")).length >= 4, "no line numbers");
    const colours = await page.$eval("#domain", (node) => new Set([...node.shadowRoot.querySelectorAll(".cm-line span")].map((span) => getComputedStyle(span).color)).size);
    assert.ok(colours >= 3, `only ${colours} colours`);
    await page.$eval("#mistakes button", (node) => node.click());
    assert.equal(await page.evaluate(() => document.activeElement.id), "problem");
    await shoot(page, "mistakes");
    await accessible(page, "mistakes");
    // Asked all the same: it is said, and nothing waits.
    await pressPlan(page);
    assert.match(await text(page, "#message"), /mistakes in the task/);
    assert.equal((await page.$$(".working")).length, 0);
    await write(page, "problem", rooms.problem);
    await page.waitForSelector("#mistakes .fine");
    assert.equal((await page.$$("#problem >>> .cm-lintRange-error")).length, 0);
  },

  async "what cannot be done says why, and goals can be given up"() {
    const page = await open("/");
    await ready(page);
    const without = rooms.problem.replace("(connected lab store) (connected store lab)", "").replace("(located sample store)", "(and (located sample store) (located sample lab))");
    await write(page, "domain", rooms.domain);
    await write(page, "problem", rooms.problem.replace("(connected lab store) (connected store lab)", ""));
    await choose(page, { compare: "" });
    await pressPlan(page);
    assert.match(await text(page, "#guided .pill"), /Impossible/);
    assert.ok((await texts(page, "#guided .why-not li")).length > 0, "no reason");
    assert.equal((await texts(page, "#guided .goals .impossible")).length, 1);
    await accessible(page, "infeasible");
    await shoot(page, "infeasible");
    await write(page, "problem", without);
    await choose(page, { on_infeasible: "drop-goals" });
    await pressPlan(page);
    assert.match(await text(page, "#guided .pill"), /Works/);
    assert.match(await text(page, "#guided .status"), /Given up.*sample located store/);
    assert.equal((await texts(page, "#guided .goals .dropped")).length, 1);
  },

  async "every choice reaches the service"() {
    const page = await open("/");
    await ready(page);
    await choose(page, { task: "tabletop/fridge_to_stove", compare: "", horizon: "12", slack: "1", decode: "sample", temperature: "0.5", seed: "7", format: "json", guidance: "mask", prefer: "short", think: "off", on_infeasible: "drop-goals", instruction: "carefully" });
    await page.$eval("#simplify", (node) => node.click());
    await pressPlan(page);
    const body = await asked(page, "/v1/plans");
    const wanted = { domain: "tabletop", problem: "fridge_to_stove", horizon: 12, slack: 1, decode: "sample", temperature: 0.5, seed: 7, format: "json", guidance: "mask", prefer: "short", think: "off", on_infeasible: "drop-goals", instruction: "carefully", simplify: true, stream: true, trace: true, model: body.model };
    assert.deepEqual(body, wanted);
    assert.match(await text(page, "#guided .pill"), /guaranteed/);
    assert.equal(JSON.parse(await text(page, "#guided .token").then((all) => all.replace(/^.*?(?=[[{])/s, "").replace(/■.*$/s, ""))) instanceof Object, true);
  },

  async "two runs side by side"() {
    const page = await open("/");
    await ready(page);
    await choose(page, { task: "tabletop/boxed_tools", guidance: "mask", compare: "" });
    await pressPlan(page);
    const before = await texts(page, "#guided .action");
    await choose(page, { guidance: "search", compare: "before" });
    await pressPlan(page);
    assert.deepEqual(await texts(page, "#bare .action"), before);
    assert.equal(await text(page, "#bare h2"), "The run before");
    assert.equal(await text(page, "#guided h2"), "The lookahead, without a model");
  },

  async "a plan is taken away, a task and a run are shared"() {
    const page = await open("/");
    await ready(page);
    await page.evaluate(() => {
      globalThis.copied = [];
      navigator.clipboard.writeText = (value) => Promise.resolve(void globalThis.copied.push(value));
      globalThis.saved = [];
      HTMLAnchorElement.prototype.click = function () { globalThis.saved.push(this.download); };
    });
    await choose(page, { task: "tabletop/boxed_tools", horizon: "9", slack: "" });
    await pressPlan(page);
    const plan = await texts(page, "#guided .action");
    await page.click("#copy");
    await page.waitForFunction(() => globalThis.copied.length === 1);
    assert.match((await page.evaluate(() => globalThis.copied))[0], /^\(open /);
    await page.click("#download");
    await page.click("#tree");
    await page.waitForFunction(() => /behavior tree/.test(document.querySelector("#message").textContent));
    await page.click("#save");
    assert.deepEqual(await page.evaluate(() => globalThis.saved), ["boxed_tools.plan", "boxed_tools.xml", "boxed_tools.replay.json"]);
    // The task, with its choices.
    await page.click("#share");
    await page.waitForFunction(() => location.hash.startsWith("#task="));
    const shared = await open("/" + new URL(page.url()).hash);
    await ready(shared);
    assert.equal(await shared.$eval("#task", (node) => node.value), "tabletop/boxed_tools");
    assert.equal(await shared.$eval("#horizon", (node) => node.value), "9");
    assert.equal(await text(shared, "#headline"), "Boxed tools");
    await pressPlan(shared);
    assert.deepEqual(await texts(shared, "#guided .action"), plan);
    // The run, where no model can be reached; it has its own task's name.
    await page.bringToFront();
    await page.click("#share-run");
    await page.waitForFunction(() => location.hash.startsWith("#replay="));
    const replay = await open("/" + new URL(page.url()).hash, { answers: "offline" });
    await finished(replay, "guided");
    assert.deepEqual(await texts(replay, "#guided .action"), plan);
    assert.equal(await text(replay, "#headline"), "Boxed tools");
    assert.match(await text(replay, "#bare .pill"), /Fails/);
    const damaged = await open("/#replay=AAAA");
    await damaged.waitForFunction(() => /cannot be replayed/.test(document.querySelector("#message.bad")?.textContent));
  },

  async "what a stranger's link says is text"() {
    const evil = '<img src="http://example.org/x" onerror="globalThis.hurt=1">';
    const goals = [`(p ${evil})`];
    const events = [
      { type: "start", task: evil, domain: null, problem: null, model: evil, guidance: "uniform", format: "pddl", decode: "greedy", seed: 0, horizon: 3, objects: [evil, "__proto__"], facts: ["(on constructor __proto__)", evil], goals, goals_dropped: [], met: [], prompt: null, prompt_tokens: 0, shortest: 1, t: 0 },
      { type: "token", index: 0, id: 0, text: evil, end: false, forced: false, choices: 2, p_model: 1, p_allowed: 1, p_guided: 1, moved: 0, preferred: { id: 1, text: evil, p: 1, allowed: false }, t: 0 },
      { type: "action", index: 0, action: evil, name: evil, arguments: [evil], first_token: 0, num_tokens: 1, legal: false, why_illegal: evil, left: 1, candidates: null, wanted: { action: evil, stops: false, same: false, allowed: false, standing: "illegal", why_not: evil }, added: [], removed: [], met: [], stops: true, t: 0 },
      { type: "end", outcome: "infeasible", plan: null, text: evil, guarantee: "none", reason: evil, valid: false, why_infeasible: [evil], would_help: [evil], goals: { met: [], unmet: goals, dropped: [] }, check: null, model_calls: 0, tokens: 1, forced_tokens: 0, tier: null, timings: { total: 1 }, cached: false, t: 0 },
    ];
    const replay = { metactrl_replay: 1, request: { domain: evil, problem: evil, guidance: evil, instruction: evil }, events, compare: null, task: { name: evil, domain: `(define ${evil}`, problem: `; ${evil}` } };
    const page = await open(`/#replay=${deflateRawSync(JSON.stringify(replay)).toString("base64url")}`);
    await finished(page, "guided");
    await ready(page);
    assert.match(await text(page, "#headline"), /<img/);
    assert.equal((await page.$$("main img")).length, 0);
    assert.equal(await page.evaluate(() => globalThis.hurt), undefined);
  },

  async "a goal is written from words, where the service can"() {
    const goals = [{ goal: "(located sample lab)", words: "sample located lab", probability: 0.81, reachable: true }, { goal: "(located sample hall)", words: "sample located hall", probability: 0.1, reachable: true, mentioned: false }];
    const options = await (await fetch(`${service.address}/v1/options`)).json();
    const page = await open("/", { answers: { "/v1/options": { body: { ...options, goals: true } }, "/v1/goals": { body: { goals, missing: ["fridge"], doubt: "the instruction names what is not there: fridge", reasoning: { text: "The lab, <b>not</b> the hall." } } }, "/v1/plans": { status: 400, body: { error: { message: "not today" } } } } });
    await ready(page);
    await page.type("#instruction", "bring the sample to the lab");
    await page.click("#write-goal");
    await page.waitForSelector(".hypothesis");
    assert.deepEqual(await texts(page, ".hypothesis"), ["sample located lab81 %", "sample located hall10 %, no word of the instruction is about it"]);
    assert.match(await text(page, "#hypotheses"), /Not known here: fridge/);
    assert.match(await text(page, "#hypotheses"), /Look at it closely: the instruction names what is not there: fridge/);
    assert.match(await text(page, "#hypotheses"), /What is guaranteed is so of the goal that you choose/);
    assert.equal(await text(page, "#hypotheses summary"), "What the model thought first");
    assert.equal(await page.$eval("#hypotheses .thought", (node) => node.textContent), "The lab, <b>not</b> the hall.");
    await accessible(page, "goals in words");
    await page.$$eval(".hypothesis input", (nodes) => nodes[1].click());
    await pressPlan(page);
    assert.equal((await asked(page, "/v1/goals")).instruction, "bring the sample to the lab");
    assert.equal((await asked(page, "/v1/plans")).goal, "(located sample hall)");
    assert.match(await text(page, "#guided .status"), /not today/);
    const plain = await open("/", { answers: { "/v1/options": { body: { ...options, goals: false } } } });
    await ready(plain);
    await plain.type("#instruction", "bring the sample to the lab");
    assert.equal(await plain.$eval("#words", (node) => node.hidden), true);
  },

  async "a task without a goal, and an instruction: the model writes the goal, a person chooses"() {
    const page = await open("/");
    await ready(page);
    await write(page, "domain", rooms.domain);
    await write(page, "problem", rooms.problem.replace("(:goal (located sample store))", ""));
    await page.waitForFunction(() => /states no goal/.test(document.querySelector("#mistakes").textContent));
    await page.type("#instruction", "bring the sample to the store");
    await choose(page, { compare: "" });
    await page.$eval("#plan", (node) => node.click());
    await page.waitForSelector(".hypothesis");
    assert.match(await text(page, "#message"), /Choose below/);
    const goal = await page.$eval(".hypothesis input", (node) => node.value);
    await pressPlan(page);
    await page.waitForFunction(() => document.querySelector("#headline").textContent === "Errand");
    assert.match(await text(page, "#guided .pill"), /guaranteed/);
    assert.match(await text(page, "#guided .status"), /for the goal that was chosen/);
    // Asked without a goal, the service had the model write one; asked again, it has the one that was chosen.
    const goals = await page.evaluate(() => globalThis.asked.filter((one) => one.path === "/v1/plans").map((one) => one.body.goal ?? ""));
    assert.deepEqual(goals, ["", goal]);
  },

  async "the service says whether a goal is stated, and the choices reach who writes it"() {
    const page = await open("/");
    await ready(page);
    await write(page, "domain", rooms.domain);
    // A comment states nothing, and neither does an empty goal.
    await write(page, "problem", rooms.problem.replace("(:goal (located sample store))", "; (:goal (located sample hall))\n(:goal (and))"));
    await page.waitForFunction(() => /states no goal/.test(document.querySelector("#mistakes").textContent));
    await choose(page, { instruction: "bring the sample to the store", guidance: "mask", horizon: "11", seed: "3", think: "off" });
    await page.$eval("#plan", (node) => node.click());
    await page.waitForSelector(".hypothesis");
    await planned(page);
    assert.match(await text(page, "#message"), /Choose below/);
    assert.equal(await page.$eval("#bare", (node) => node.hidden), true);
    const body = await asked(page, "/v1/plans");
    assert.deepEqual([body.guidance, body.horizon, body.seed, body.think, body.goal], ["mask", 11, 3, "off", undefined]);
    await page.click("#write-goal");
    await page.waitForFunction(() => globalThis.asked.some((one) => one.path === "/v1/goals"));
    await page.waitForSelector(".hypothesis");
    const goals = await asked(page, "/v1/goals");
    assert.deepEqual([goals.guidance, goals.horizon, goals.seed, goals.think], ["mask", 11, 3, "off"]);
    // Constraints alone are a task.
    await write(page, "problem", rooms.problem.replace("(:goal (located sample store))", "(:goal (and)) (:constraints (always (not (located robot1 ward))))"));
    await page.waitForSelector("#mistakes .fine");
    await choose(page, { instruction: "", compare: "", horizon: "", seed: "" });
    await pressPlan(page);
    assert.match(await text(page, "#guided .pill"), /guaranteed/);
  },

  async "without the key the opening run is there and the key is asked for"() {
    const refused = { status: 401, body: { error: { message: "the key is missing" } } };
    const page = await open("/", { answers: { "/v1/options": refused, "/v1/tasks": refused, "/v1/models": refused } });
    await page.waitForSelector("#key-form:not([hidden])");
    await finished(page, "guided");
    await accessible(page, "the key");
  },

  async "on a phone what happens is to be seen"() {
    const page = await open("/", { view: phone, motion: "no-preference" });
    await ready(page);
    await finished(page, "bare");
    await fits(page, "phone");
    await page.click("#side-guided");
    assert.equal(await page.$eval("#bare", (node) => getComputedStyle(node).display), "none");
    await page.$eval("#setup", (node) => { node.scrollIntoView(); });
    await choose(page, { task: "tabletop/boxed_tools" });
    await pressPlan(page);
    // The page moves there, which takes its time, and then stays.
    await page.waitForFunction((height) => {
      const { top, bottom } = document.querySelector("#guided .worldbox").getBoundingClientRect();
      const stays = window.lastTop === top;
      window.lastTop = top;
      return stays && top >= 0 && bottom <= height;
    }, {}, phone.height);
    await fits(page, "phone, planned");
    await shoot(page, "phone");
  },

  async "laptop and phone, light and dark, nothing to stumble over"() {
    for (const [name, view] of Object.entries({ laptop, phone })) {
      for (const scheme of firefox ? ["light"] : ["light", "dark"]) {
        const page = await open("/", { view, scheme });
        await ready(page);
        await finished(page, name === "phone" ? "bare" : "guided");
        await page.$eval("#choices", (node) => { node.open = true; });
        await page.waitForSelector("#guidance-note:not(:empty)");
        await accessible(page, `${name} ${scheme}`);
        await page.$eval("#choices", (node) => { node.open = false; });
        await fits(page, `${name} ${scheme}`);
        await shoot(page, `${name}-${scheme}`);
        await page.close();
      }
    }
  },
};

try {
  for (const [name, story] of Object.entries(stories)) {
    if (process.env.STORY !== undefined && !name.includes(process.env.STORY)) continue;
    const begin = performance.now();
    await story();
    for (const page of (await browser.pages()).slice(1)) await page.close();
    console.log(`page: ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
  }
  assert.deepEqual(harness.problems, []);
  console.log("page: the browser tests passed");
} finally {
  await browser.close();
  service.stop();
}
process.exit(0);
