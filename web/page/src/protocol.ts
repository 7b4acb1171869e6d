// What the service says, as docs/serve.md describes it. Unknown fields and unknown events are ignored, so that a page
// of one version can replay what a service of another recorded.

export interface StartEvent {
  type: "start";
  task: string;
  domain: string | null;
  problem: string | null;
  model: string | null;
  guidance: string;
  format: string;
  decode: string;
  seed: number;
  horizon: number;
  objects: string[];
  facts: string[];
  goals: string[];
  goals_dropped: number[];
  // How many conditions are kept on the way.
  constraints?: number;
  met: number[];
  prompt: string | null;
  prompt_tokens: number;
  shortest: number | null;
}

export interface Preferred {
  id: number;
  text: string;
  p: number;
  allowed: boolean;
}

export interface TokenEvent {
  type: "token";
  index: number;
  id: number;
  text: string;
  end: boolean;
  forced: boolean;
  choices: number;
  p_model: number | null;
  p_allowed: number | null;
  p_guided: number | null;
  moved: number | null;
  preferred: Preferred | null;
}

export interface ThoughtEvent {
  type: "thought";
  text: string;
}

export interface Wanted {
  action: string | null;
  stops: boolean;
  same: boolean;
  allowed: boolean;
  standing: string;
  why_not: string;
}

export interface ActionEvent {
  type: "action";
  index: number;
  action: string;
  name: string;
  arguments: string[];
  first_token: number | null;
  num_tokens: number | null;
  legal: boolean;
  why_illegal: string;
  left: number;
  candidates: { allowed: number; hopeless: number; legal: number; illegal: number } | null;
  wanted: Wanted | null;
  added: string[];
  removed: string[];
  met: number[];
  stops: boolean;
}

export interface EndEvent {
  type: "end";
  outcome: string;
  plan: { action: string; arguments: string[] }[] | null;
  text: string | null;
  guarantee: string;
  reason: string;
  valid: boolean;
  why_infeasible?: string[];
  would_help?: string[];
  cost?: number | null;
  best_known?: { length: number; shortest: boolean; cost: number } | null;
  goals: { met: string[]; unmet: string[]; dropped: string[] };
  // One that is not the problem's own: chosen from what a model wrote, or given; or none yet, and what there is to choose from.
  goal?: ChosenGoal | null;
  check: { parsed: boolean; parse_error: string; steps_executed: number; problem: string } | null;
  model_calls: number;
  tokens: number;
  forced_tokens: number;
  tier: string | null;
  timings: Record<string, number>;
  cached: boolean;
}

export interface ChosenGoal {
  pddl: string | null;
  source: string;
  hypotheses?: { pddl: string; words: string[]; probability: number; holds_already: boolean; mentioned: boolean }[];
  unknown_names?: string[];
  doubt?: string | null;
  reasoning?: { text: string };
}

export interface ErrorEvent {
  type: "error";
  error: { message: string };
}

export type PlanEvent = StartEvent | ThoughtEvent | TokenEvent | ActionEvent | EndEvent | ErrorEvent;
// An event with the seconds since its request.
export type TimedEvent = PlanEvent & { t: number };

export interface PlanRequest {
  domain: string;
  problem: string;
  instruction?: string;
  goal?: string;
  model?: string;
  guidance: string;
  horizon?: number;
  slack?: number;
  prefer?: string;
  simplify?: boolean;
  decode?: string;
  temperature?: number;
  beam?: number;
  seed?: number;
  format?: string;
  on_infeasible?: string;
  think?: string | number;
}

export interface Options {
  version: string;
  guidance: { name: string; description: string; guaranteed: boolean }[];
  formats: string[];
  decode: string[];
  on_infeasible: string[];
  // Whether goals can be asked for in words.
  goals?: boolean;
  defaults: { model: string; guidance: string; format: string; decode: string; on_infeasible: string };
  limits: { horizon: number; body_bytes: number };
}

export interface Diagnostic {
  severity: "error" | "warning";
  file: string;
  line: number;
  column: number;
  message: string;
  hint: string;
}

export interface Check {
  ok: boolean;
  diagnostics: Diagnostic[];
  notes: string[];
  objects: number;
  ground_actions: number;
}

export interface GoalHypothesis {
  goal: string;
  words: string;
  probability: number;
  reachable?: boolean;
  holds_already?: boolean;
  mentioned?: boolean;
}

export interface Goals {
  goals: GoalHypothesis[];
  reason?: string;
  missing?: string[];
  // Why somebody should look closely at the first of them.
  doubt?: string | null;
  // What a model thought before it wrote the goal.
  reasoning?: { text: string };
}

// The same as a request for a plan is answered where nobody has said yes to the goal that a model wrote; nothing where that is not so.
export function goalsToChoose(end: EndEvent): Goals | null {
  const { goal } = end;
  if (end.outcome !== "not confirmed" || goal?.hypotheses === undefined) return null;
  return {
    goals: goal.hypotheses.map(({ pddl, words, ...more }) => ({ goal: pddl, words: words.join("; "), ...more })),
    missing: goal.unknown_names ?? [],
    ...(goal.doubt === undefined ? {} : { doubt: goal.doubt }),
    ...(goal.reasoning === undefined ? {} : { reasoning: goal.reasoning }),
  };
}

export interface Tasks {
  domains: { name: string; text: string; problems: { name: string; text: string }[] }[];
}

export interface Models {
  data: { id: string; description?: string }[];
}

const eventTypes = new Set(["start", "thought", "token", "action", "end", "error"]);

export function isPlanEvent(value: unknown): value is PlanEvent {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && eventTypes.has(value.type);
}

// Cuts a stream of server-sent events into their data. A piece may end anywhere, also inside a line.
export class EventLines {
  private rest = "";

  push(piece: string): string[] {
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop() ?? "";
    return lines
      .map((line) => line.replace(/\r$/, ""))
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trimStart());
  }
}
