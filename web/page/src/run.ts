// A run as the page shows it: everything here is a function of the events so far, so that a live run and a replay are
// the same thing.
import type { ActionEvent, EndEvent, PlanEvent, StartEvent, TokenEvent } from "./protocol.js";

export interface Run {
  start: StartEvent | null;
  tokens: TokenEvent[];
  actions: ActionEvent[];
  end: EndEvent | null;
  error: string;
}

export function newRun(): Run {
  return { start: null, tokens: [], actions: [], end: null, error: "" };
}

export function addEvent(run: Run, event: PlanEvent): void {
  switch (event.type) {
    case "start":
      run.start = event;
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

export interface Fact {
  text: string;
  change: "" | "added" | "removed";
}

// The facts after the first `steps` actions, those that the last of them removed included; facts that some action of
// the run changes come first.
export function factsAfter(run: Run, steps: number): { moving: Fact[]; still: Fact[] } {
  const now = new Set(run.start?.facts ?? []);
  const changing = new Set<string>();
  for (const action of run.actions) for (const fact of [...action.added, ...action.removed]) changing.add(fact);
  for (const action of run.actions.slice(0, steps)) {
    for (const fact of action.removed) now.delete(fact);
    for (const fact of action.added) now.add(fact);
  }
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

// What the model wanted instead of an action, as a sentence; empty when it wanted just that.
export function wish(action: ActionEvent): { text: string; vetoed: boolean } {
  const wanted = action.wanted;
  if (wanted === null || wanted.same) return { text: "", vetoed: false };
  const what = wanted.action === null ? "to stop" : wanted.action + (wanted.stops ? " and then to stop" : "");
  if (wanted.allowed) return { text: `The model leaned to ${what}; the lookahead preferred this.`, vetoed: false };
  const why = wanted.why_not.replace(/^illegal: /, "") || wanted.standing;
  return { text: `The model wanted ${what}. Vetoed: ${why}.`, vetoed: true };
}

// One sentence on how it ended.
export function verdict(run: Run): { text: string; kind: "good" | "bad" | "open" } {
  if (run.error !== "") return { text: run.error, kind: "bad" };
  const end = run.end;
  if (end === null) return { text: "", kind: "open" };
  if (end.outcome !== "plan") return { text: `${end.outcome}: ${end.reason}`, kind: end.outcome === "cancelled" ? "open" : "bad" };
  const guarantee = end.guarantee === "none" ? "no guarantee" : `guarantee: ${end.guarantee}`;
  if (end.valid) return { text: `The plan works (${guarantee}). ${end.reason}`, kind: "good" };
  const illegal = run.actions.find((action) => !action.legal);
  if (illegal) return { text: `The plan breaks at step ${illegal.index + 1}, ${illegal.action}: ${illegal.why_illegal}.`, kind: "bad" };
  const problem = end.check?.problem || end.check?.parse_error || "";
  if (problem !== "") return { text: `The plan fails (${guarantee}): ${problem}.`, kind: "bad" };
  const unmet = end.goals.unmet;
  return { text: unmet.length > 0 ? `The plan ends without ${unmet.join(", ")} (${guarantee}).` : `The plan fails (${guarantee}). ${end.reason}`, kind: "bad" };
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
