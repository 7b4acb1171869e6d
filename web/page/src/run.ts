// A run as the page shows it: everything here is a function of the events so far, so that a live run and a replay are
// the same thing.
import { actionWords, factWords, sentenceWords } from "./pddl.js";
import type { ActionEvent, EndEvent, PlanEvent, StartEvent, TokenEvent } from "./protocol.js";

export interface Run {
  start: StartEvent | null;
  tokens: TokenEvent[];
  actions: ActionEvent[];
  thought: string;
  end: EndEvent | null;
  error: string;
}

export function newRun(): Run {
  return { start: null, tokens: [], actions: [], thought: "", end: null, error: "" };
}

export function addEvent(run: Run, event: PlanEvent): void {
  switch (event.type) {
    case "start":
      run.start = event;
      break;
    case "thought":
      run.thought += event.text;
      break;
    case "token":
      run.tokens.push(event);
      break;
    case "action":
      run.actions.push(event);
      break;
    case "end":
      run.end = event;
      break;
    case "error":
      run.error = event.error.message;
      break;
  }
}

// All facts at the start and after each action.
export function statesOf(run: Run): Set<string>[] {
  let now = new Set(run.start?.facts ?? []);
  const states = [now];
  for (const action of run.actions) {
    now = new Set(now);
    for (const fact of action.removed) now.delete(fact);
    for (const fact of action.added) now.add(fact);
    states.push(now);
  }
  return states;
}

export interface Fact {
  text: string;
  change: "" | "added" | "removed";
}

// The facts after the first `steps` actions, those that the last of them removed included; facts that some action of
// the run changes come first.
export function factsAfter(run: Run, steps: number): { moving: Fact[]; still: Fact[] } {
  const now = statesOf(run)[steps] ?? new Set<string>();
  const changing = new Set<string>();
  for (const action of run.actions) for (const fact of [...action.added, ...action.removed]) changing.add(fact);
  const last = steps > 0 ? run.actions[steps - 1] : undefined;
  const added = new Set(last?.added ?? []);
  const removed = new Set(last?.removed ?? []);
  const moving: Fact[] = [];
  const still: Fact[] = [];
  for (const text of [...new Set([...now, ...removed])].sort()) {
    const change = added.has(text) ? "added" : now.has(text) ? "" : "removed";
    (changing.has(text) ? moving : still).push({ text, change });
  }
  return { moving, still };
}

// Which goals hold after the first `steps` actions.
export function goalsAfter(run: Run, steps: number): Set<number> {
  const last = steps > 0 ? run.actions[steps - 1] : undefined;
  return new Set(last ? last.met : (run.start?.met ?? []));
}

// How many actions are complete before the token `index` begins: the state the model was in when it wrote it.
export function stepOfToken(run: Run, index: number): number {
  let steps = 0;
  for (const action of run.actions) {
    if (action.first_token === null || action.num_tokens === null) continue;
    if (index >= action.first_token + action.num_tokens) steps = action.index + 1;
  }
  return steps;
}

// What the model wanted instead of an action, in words; empty when it wanted just that.
export function wish(action: ActionEvent): { wanted: string; why: string; vetoed: boolean } {
  const wanted = action.wanted;
  if (wanted === null || wanted.same) return { wanted: "", why: "", vetoed: false };
  const words = wanted.action === null ? null : actionWords(wanted.action);
  const what = words === null ? "stop here" : `${words.name} ${words.rest}`.trim() + (wanted.stops ? " and stop" : "");
  if (wanted.allowed) return { wanted: what, why: "allowed, but this keeps more ways open", vetoed: false };
  const why = wanted.why_not.replace(/^illegal: /, "").replace(/^legal, but /, "") || wanted.standing;
  return { wanted: what, why: sentenceWords(why), vetoed: true };
}

export interface Verdict {
  short: string;
  text: string;
  kind: "good" | "bad" | "open";
}

// One sentence on how it ended, and two words.
export function verdict(run: Run): Verdict {
  if (run.error !== "") return { short: "No plan", text: run.error, kind: "bad" };
  const end = run.end;
  if (end === null) return { short: "", text: "", kind: "open" };
  if (end.outcome === "infeasible" && end.goal?.pddl === null) return { short: "No goal", text: sentenceWords(end.reason), kind: "bad" };
  if (end.outcome === "infeasible") return { short: "Impossible", text: "There is no plan for this task.", kind: "bad" };
  if (end.outcome !== "plan") return { short: end.outcome, text: sentenceWords(end.reason), kind: end.outcome === "cancelled" ? "open" : "bad" };
  const steps = `${run.actions.length} ${run.actions.length === 1 ? "step" : "steps"}`;
  // A goal that was chosen may be nothing but a condition on the way.
  if (end.valid && run.start?.goals.length === 0 && (run.start.constraints ?? 0) === 0 && !end.goal) return { short: "Nothing to do", text: "The task has no goal, so the empty plan reaches it.", kind: "open" };
  // A guarantee is one of the goal that was shown.
  const relative = end.goal ? " So it is for the goal that was chosen, whatever was meant." : "";
  const dropped = end.goals.dropped;
  if (dropped.length > 0 && end.guarantee !== "none" && end.goals.unmet.every((goal) => dropped.includes(goal))) {
    return { short: "Works, less is reached", text: `${steps}, guaranteed. Given up, because not all goals can be reached: ${dropped.map(factWords).join("; ")}.${relative}`, kind: "good" };
  }
  if (end.valid) {
    const how = (end.guarantee === "none" ? "Checked afterwards: it works." : "Every step was known to work before it was written.") + relative;
    return { short: end.guarantee === "none" ? "Works" : "Works, guaranteed", text: `${steps}. ${how}`, kind: "good" };
  }
  const illegal = run.actions.find((action) => !action.legal);
  if (illegal) {
    const { name, rest } = actionWords(illegal.action);
    return { short: "Fails", text: `Breaks at step ${illegal.index + 1}, “${`${name} ${rest}`.trim()}”: ${sentenceWords(illegal.why_illegal)}.`, kind: "bad" };
  }
  const unmet = end.goals.unmet;
  if (end.check?.parsed !== false && unmet.length > 0) return { short: "Fails", text: `Ends after ${steps} without: ${unmet.map(factWords).join("; ")}.`, kind: "bad" };
  const problem = end.check?.problem || end.check?.parse_error || end.reason;
  return { short: "Fails", text: `${sentenceWords(problem)}.`, kind: "bad" };
}

// "+35 %": how far the lookahead moved a chosen token.
export function movedText(token: TokenEvent): string {
  if (token.moved === null) return "";
  const percent = Math.round(token.moved * 100);
  return percent > 0 ? `+${percent} %` : `${percent} %`;
}

// -3..3: how strongly to colour a chosen token.
export function movedLevel(token: TokenEvent): number {
  if (token.moved === null || token.forced) return 0;
  const size = Math.abs(token.moved);
  const level = size < 0.02 ? 0 : size < 0.15 ? 1 : size < 0.5 ? 2 : 3;
  return token.moved < 0 ? -level : level;
}
