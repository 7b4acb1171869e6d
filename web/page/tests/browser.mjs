// The page in a real browser against the real service:
//
//     node tests/browser.mjs METACTRL SCREENSHOTS
//
// A plan is made, watched, compared, shared and replayed with the model out of reach. Needs Chromium ($CHROMIUM, or
// /usr/bin/chromium). Screenshots of each stage go to the folder SCREENSHOTS.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createInterface } from "node:readline";
import puppeteer from "puppeteer-core";

const [binary, folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node tests/browser.mjs METACTRL SCREENSHOTS");
mkdirSync(folder, { recursive: true });

const service = spawn(binary, ["serve", "--port", "0"], { stdio: ["ignore", "inherit", "pipe"] });
const address = await new Promise((resolve, reject) => {
  service.on("exit", (code) => reject(new Error(`the service ended with ${code}`)));
  createInterface({ input: service.stderr }).on("line", (line) => {
    console.log(line);
    const found = /listening at (http:\S+?)[ ;]/.exec(line);
    if (found) resolve(found[1]);
  });
});
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
  protocolTimeout: 120_000,
});
const timeout = 120_000;
const problems = [];

async function open(path, { offline = false } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(timeout);
  // Chromium draws nothing in tabs that nobody sees.
  await page.bringToFront();
  await page.setViewport({ width: 1280, height: 900 });
  page.on("pageerror", (error) => problems.push(`script: ${error.message}`));
  page.on("console", (message) => {
    // Chromium says on the console what the page itself shows as a message: a request that was refused.
    if (message.type() === "error" && !/Failed to load resource/.test(message.text())) problems.push(`console: ${message.text()}`);
  });
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(address) && !url.startsWith("data:") && !url.startsWith("blob:")) problems.push(`asked for ${url}`);
    if (offline && url.includes("/v1/")) void request.abort();
    else void request.continue();
  });
  await page.goto(address + path);
  return page;
}
const texts = (page, selector) => page.$$eval(selector, (nodes) => nodes.map((node) => node.textContent));
const text = async (page, selector) => (await texts(page, selector)).join("");
const finished = (page, part) => page.waitForSelector(`#${part} .status.good, #${part} .status.bad`);
async function shoot(page, name, width, scheme) {
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setViewport({ width, height: 900 });
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `${name}: ${overflow} pixels wider than the window`);
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

try {
  const page = await open("/");
  await page.waitForSelector("#plan:not([disabled])");
  await shoot(page, "begin", 1280, "light");
  await page.select("#task", "tabletop/dishwasher");

  // Made and watched.
  await page.keyboard.down("Control");
  await page.keyboard.press("Enter");
  await page.keyboard.up("Control");
  await page.waitForSelector("#guided .status.good");
  assert.match(await text(page, "#guided .status"), /guarantee: full/);
  const plan = await texts(page, "#guided .action");
  assert.ok(plan.length >= 3, `only ${plan.length} actions`);
  assert.ok((await texts(page, "#guided .token.forced")).length > 0);
  assert.ok((await texts(page, "#guided .token.chosen")).length > 0);
  const written = await text(page, "#guided .token");
  for (const action of plan) assert.ok(written.includes(action), `${action} is not in the text`);
  assert.equal((await texts(page, "#guided .goals .open")).length, 0);
  assert.ok((await texts(page, "#guided .goals .met")).length > 0);

  // The state at the start differs from the state at the end; the keyboard reaches every token.
  const endFacts = await texts(page, "#guided .facts li");
  await page.focus("#guided .text");
  await page.keyboard.press("Home");
  assert.match(await text(page, "#guided .note"), /forced|one of/);
  assert.equal(await text(page, "#guided .step-name"), "at the start");
  assert.notDeepEqual(await texts(page, "#guided .facts li"), endFacts);
  await page.keyboard.press("End");
  assert.match(await text(page, "#guided .step-name"), /after step/);

  // Compared: the model alone came to some end.
  await finished(page, "bare");
  assert.match(await text(page, "#bare .status"), /no guarantee|breaks at step|fails/);
  await shoot(page, "plan", 1280, "light");
  await shoot(page, "plan-dark", 1280, "dark");
  await shoot(page, "plan-phone", 390, "dark");
  await page.setViewport({ width: 1280, height: 900 });

  // Shared, and replayed where no model can be reached.
  await page.waitForSelector("#share:not([disabled])");
  await page.click("#share");
  await page.waitForFunction(() => location.hash.startsWith("#replay="));
  const replay = await open("/" + new URL(page.url()).hash, { offline: true });
  await replay.waitForSelector("#guided .status.good");
  await finished(replay, "bare");
  assert.deepEqual(await texts(replay, "#guided .action"), plan);
  assert.equal(await text(replay, "#guided .token"), written);
  await shoot(replay, "replay", 1280, "light");

  // A damaged link, and PDDL that is none, are said in words.
  const damaged = await open("/#replay=AAAA");
  await damaged.waitForFunction(() => document.querySelector("#message.bad")?.textContent.includes("cannot be replayed"));
  await page.bringToFront();
  await page.$eval("#own", (node) => { node.open = true; });
  await page.$eval("#domain", (node) => { node.value = "(define (domain broken"; node.dispatchEvent(new Event("input")); });
  await page.click("#plan");
  await page.waitForSelector("#guided .status.bad");
  assert.match(await text(page, "#guided .status"), /domain:\d+:\d+/);
  await shoot(page, "error", 1280, "light");

  assert.deepEqual(problems, []);
  console.log(`page: a plan of ${plan.length} actions was made, watched, compared, shared and replayed`);
} finally {
  await browser.close();
  service.removeAllListeners("exit");
  service.kill("SIGTERM");
}
