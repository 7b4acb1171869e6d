// The pages that `metactrl score --report` and `metactrl reproduce` write, in a real browser:
//
//     node tests/reports.mjs METACTRL SCREENSHOTS
//
// Of a run over the excerpts in tests/data that was stopped early. Needs what browser.mjs needs, and a METACTRL with the benchmarks.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { accessible, firefox, Harness, laptop, phone, startBrowser, text, texts } from "./harness.mjs";

const [binary, screenshots] = process.argv.slice(2);
if (screenshots === undefined) throw new Error("usage: node tests/reports.mjs METACTRL SCREENSHOTS");
mkdirSync(screenshots, { recursive: true });
const data = fileURLToPath(new URL("../../../tests/data", import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), "metactrl-reports-"));
const run = (...parts) => execFileSync(binary, parts, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });

// The colour that an element is drawn in.
const painted = (page, selector, property) => page.$eval(selector, (node, name) => getComputedStyle(node)[name], property);
const headOf = async (page) => Object.fromEntries((await texts(page, ".about dt")).map((name, i) => [name, i]));
const browser = await startBrowser();
const harness = new Harness(browser, pathToFileURL(folder).href);

// Every view: nothing wider than the window, nothing to stumble over. What is drawn, by scheme.
async function inEveryView(where, name, look) {
  const seen = {};
  for (const [device, view] of Object.entries({ laptop, phone })) {
    for (const scheme of firefox ? ["light"] : ["light", "dark"]) {
      const page = await harness.open(where, { view, scheme });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wide <= 0, `${name}, ${device} ${scheme}: ${wide} pixels wider than the window`);
      await accessible(page, `${name}, ${device} ${scheme}`);
      seen[scheme] = await look(page);
      await page.screenshot({ path: `${screenshots}/${name}-${device}-${scheme}.png` });
      await page.close();
    }
  }
  return seen;
}

try {
  run("eval", "vh-as", "--prompts", `${data}/eai_vh/as_prompts.json`, "--guidance", "search", "--limit", "6", "--out", "answers.json", "--report", "report");
  run("score", "vh-as", "--tasks", `${data}/eai_vh/as.jsonl`, "--responses", "answers.json", "--report", "report");
  run("reproduce", "--data", data, "--out", "tables", "--modules", "vh-as,wah", "--rows", "search", "--limit", "2", "--max-states", "10000");

  const report = await inEveryView("/report/index.html", "report", async (page) => {
    assert.equal(await text(page, "h1"), "VirtualHome, action sequencing");
    assert.deepEqual(Object.keys(await headOf(page)), ["Model", "Guidance", "Rules", "Answered", "Scored"]);
    assert.match(await text(page, ".about"), /none, search alone.*search.*environment.*20\d\d-\d\d-\d\d/);
    assert.match(await text(page, "#partial"), /Not complete: \d+ tasks have no answer yet/);
    // What was not answered is one press away, and nowhere else.
    const visible = () => page.$$eval(".task", (nodes) => nodes.filter((node) => !node.hidden).length);
    assert.equal(await visible(), 6);
    await page.$$eval("#filters button", (nodes) => nodes.find((node) => node.textContent.startsWith("No answer")).click());
    assert.equal(await visible(), 8);
    await page.$$eval("#filters button", (nodes) => nodes[0].click());
    // Numbers do not break, and a task opens.
    const heights = await page.$$eval(".card td", (nodes) => nodes.map((node) => node.getBoundingClientRect().height));
    assert.ok(Math.max(...heights) < 60, `a number of ${Math.max(...heights)} pixels`);
    await page.$eval(".task:not([hidden]) > summary", (node) => node.click());
    await page.waitForSelector(".task[open] ol.steps");
    return [await painted(page, ".plot .good", "fill"), await painted(page, ".plot text", "fill"), await painted(page, "body", "backgroundColor")];
  });
  const tables = await inEveryView("/tables/index.html", "tables", async (page) => {
    assert.deepEqual(Object.keys(await headOf(page)), ["Model", "Guidance", "Rules", "Date", "Tasks", "Prompts", "Classical planner"]);
    assert.equal((await page.$$("figure svg.plot")).length, 2);
    return [await painted(page, ".plot .task", "fill"), await painted(page, ".plot text", "fill"), await painted(page, "body", "backgroundColor")];
  });
  const plot = {};
  for (const scheme of firefox ? ["light"] : ["light", "dark"]) {
    const page = await harness.open("/tables/vh-as.svg", { scheme });
    plot[scheme] = [await painted(page, ".task", "fill"), await painted(page, "text", "fill"), await painted(page, ".paper", "fill")];
    await page.close();
  }
  for (const seen of [report, tables, plot]) {
    if (!firefox) seen.light.forEach((colour, i) => assert.notEqual(colour, seen.dark[i]));
  }
  // One look for both.
  assert.deepEqual(report.light.slice(1), tables.light.slice(1));
  assert.deepEqual(plot.light.slice(0, 2), tables.light.slice(0, 2));
  assert.deepEqual(harness.problems, []);
  console.log("page: the reports passed");
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
process.exit(0);
