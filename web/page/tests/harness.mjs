// A service, a browser, pages that ask for nothing outside, and what the stories (browser.mjs) look at.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import puppeteer from "puppeteer-core";

export const timeout = 120_000;
export const laptop = { width: 1280, height: 900 };
export const phone = { width: 390, height: 844 };

// `binary`: the program, or the address of a service that runs.
export async function startService(binary) {
  if (binary.startsWith("http:")) return { address: binary, stop: () => undefined };
  const service = spawn(binary, ["serve", "--port", "0"], { stdio: ["ignore", "inherit", "pipe"] });
  const address = await new Promise((resolve, reject) => {
    service.on("exit", (code) => reject(new Error(`the service ended with ${code}`)));
    createInterface({ input: service.stderr }).on("line", (line) => {
      console.log(line);
      const found = /listening at (http:\S+?)[ ;]/.exec(line);
      if (found) resolve(found[1]);
    });
  });
  return { address, stop: () => service.kill("SIGKILL") };
}

// What Firefox cannot be told page by page (colour scheme, motion) it is told at its start, or not at all.
export const firefox = process.env.BROWSER === "firefox";

export async function startBrowser() {
  return puppeteer.launch({
    browser: firefox ? "firefox" : "chrome",
    executablePath: firefox ? (process.env.FIREFOX ?? "/usr/bin/firefox-esr") : (process.env.CHROMIUM ?? "/usr/bin/chromium"),
    args: firefox ? [] : ["--no-sandbox", "--disable-gpu"],
    extraPrefsFirefox: { "ui.prefersReducedMotion": 1 },
    protocolTimeout: timeout,
  });
}

export class Harness {
  // What no story may cause: script errors, requests to others.
  problems = [];

  constructor(browser, address) {
    this.browser = browser;
    this.address = address;
  }

  // `answers`: a path to {status, body}, which answers in place of the service; or "offline". Moving pictures are waited for by none, unless a story asks.
  async open(path, { view = laptop, scheme = "light", answers = {}, motion = "reduce" } = {}) {
    const page = await this.browser.newPage();
    page.setDefaultTimeout(timeout);
    // Chromium draws nothing in tabs that nobody sees.
    await page.bringToFront();
    await page.setViewport(view);
    if (!firefox) await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }, { name: "prefers-reduced-motion", value: motion }]);
    page.on("pageerror", (error) => this.problems.push(`script: ${error.message}`));
    page.on("console", (message) => {
      // The browser says on the console what the page itself shows as a message: a request that was refused.
      if (message.type() === "error" && !/Failed to load resource/.test(message.text())) this.problems.push(`console: ${message.text()}`);
    });
    page.bytes = 0;
    // What the page asks for, as it asks: not every browser tells the bodies of requests.
    await page.evaluateOnNewDocument(() => {
      globalThis.asked = [];
      const { fetch } = globalThis;
      globalThis.fetch = (path, init) => {
        if (init?.body) globalThis.asked.push({ path, body: JSON.parse(init.body) });
        return fetch(path, init);
      };
    });
    page.on("response", async (response) => {
      try {
        page.bytes += (await response.buffer()).length;
      } catch {
        // A stream that was closed, a response of a page that is gone.
      }
    });
    await page.setRequestInterception(true);
    page.on("request", (request) => {
      const url = request.url();
      const local = url.startsWith(this.address);
      if (!local && !url.startsWith("data:") && !url.startsWith("blob:")) this.problems.push(`asked for ${url}`);
      const where = local ? new URL(url).pathname : "";
      const answer = answers === "offline" && where.startsWith("/v1/") ? "abort" : answers[where];
      if (answer === "abort") void request.abort();
      else if (answer) void request.respond({ status: answer.status ?? 200, contentType: "application/json", body: JSON.stringify(answer.body) });
      else void request.continue();
    });
    await page.goto(this.address + path);
    return page;
  }
}

export const asked = async (page, path) => (await page.evaluate(() => globalThis.asked)).find((one) => one.path === path)?.body;
export const texts = (page, selector) => page.$$eval(selector, (nodes) => nodes.map((node) => node.textContent));
export const text = async (page, selector) => (await texts(page, selector)).join("");
export const label = (page, selector) => page.$eval(selector, (node) => node.getAttribute("aria-label"));
export const finished = (page, part) => page.waitForSelector(`#${part}.good, #${part}.bad`);
export const ready = (page) => page.waitForSelector("#plan:not([disabled])");
// A plan was asked for and has come, as have those it is compared with.
export const planned = (page) => page.waitForFunction(() => !document.body.classList.contains("busy"));

export async function pressPlan(page) {
  await page.$eval("#plan", (node) => node.click());
  await page.waitForFunction(() => document.body.classList.contains("busy") || document.querySelector("#guided.good, #guided.bad"));
  await planned(page);
}

export async function choose(page, values) {
  for (const [id, value] of Object.entries(values)) {
    await page.$eval(`#${id}`, (node, chosen) => {
      node.value = chosen;
      node.dispatchEvent(new Event("input", { bubbles: true }));
      node.dispatchEvent(new Event("change", { bubbles: true }));
    }, value);
  }
}

// Puts a text into one of the two editors as a person would: all of it marked, deleted, and pasted or typed.
export async function write(page, name, value) {
  await page.$eval("#own", (node) => { node.open = true; });
  const editor = await page.waitForSelector(`#${name} >>> .cm-content`);
  await editor.evaluate((node) => { node.focus(); });
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.press("Backspace");
  // Firefox does not let a script paste.
  if (firefox) await page.keyboard.type(value);
  else await editor.evaluate((node, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    node.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, value);
}

const axeSource = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

// What a screen reader, a keyboard or a weak eye would stumble over: nothing.
export async function accessible(page, name) {
  await page.evaluate(axeSource);
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target.join(" ")} (${node.failureSummary})`).join("; ")}`);
  });
  assert.deepEqual(found, [], name);
}

// Nothing wider than the window, nothing longer than two screens.
export async function fits(page, name) {
  const [wide, high, screen] = await page.evaluate(() => [document.documentElement.scrollWidth - window.innerWidth, document.documentElement.scrollHeight, window.innerHeight]);
  assert.ok(wide <= 0, `${name}: ${wide} pixels wider than the window`);
  assert.ok(high <= 2 * screen, `${name}: ${high} pixels, more than two screens of ${screen}`);
}
