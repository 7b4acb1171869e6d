// Records the run on which the page opens, from a service with the model that ships:
//
//     node record.mjs http://127.0.0.1:8080
//
// writes src/opening.json. The task is one where the model alone fails; if it does not, or the guided run does not work,
// nothing is written. Numbers are rounded and the prompt is left out, to keep it small.
import { readFileSync, writeFileSync } from "node:fs";

const address = process.argv[2];
if (address === undefined) throw new Error("usage: node record.mjs ADDRESS");
const domain = "tabletop";
const problem = "fridge_to_stove";
const headline = "Asked to heat an orange and syrup, the model alone forgets the pot.";
const lead = "Same model, same task, with Meta-Ctrl: before each word is written, everything from which the goal can no longer be reached is ruled out. So it cannot forget.";

async function events(request) {
  const response = await fetch(`${address}/v1/plans`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...request, stream: true, trace: request.guidance !== "none" }),
  });
  if (!response.ok) throw new Error(await response.text());
  const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
  const round = (_, value) => (typeof value === "number" ? Number(value.toFixed(4)) : value);
  return lines.map((line) => {
    const event = JSON.parse(line.slice(6), round);
    if (event.type === "start") event.prompt = null;
    return { ...event, t: 0 };
  });
}

const file = (name) => readFileSync(`../../domains/${domain}/${name}.pddl`, "utf8");
const guided = { domain, problem, guidance: "uniform", slack: 0 };
const bare = { domain, problem, guidance: "none" };
const replay = {
  headline,
  lead,
  metactrl_replay: 1,
  request: guided,
  events: await events(guided),
  compare: { request: bare, events: await events(bare) },
  task: { name: problem.replaceAll("_", " "), domain: file("domain"), problem: file(problem) },
};
const end = ({ events: all }) => all.at(-1);
if (!end(replay).valid || end(replay).guarantee !== "full") throw new Error("the guided run does not work");
if (end(replay.compare).valid || !end(replay.compare).goals.unmet.includes("(on pot stove)")) throw new Error("the model alone does not forget the pot");
writeFileSync("src/opening.json", `${JSON.stringify(replay)}\n`);
