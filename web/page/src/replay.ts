// Recorded runs: a file, or a link that carries the whole run behind its '#', compressed.
import { isPlanEvent, type PlanRequest, type TimedEvent } from "./protocol.js";

export interface Recording {
  request: PlanRequest;
  events: TimedEvent[];
}

// The texts of a task, so that what was recorded can be drawn, named and planned again anywhere.
export interface TaskTexts {
  name: string;
  domain: string;
  problem: string;
}

export interface Replay extends Recording {
  metactrl_replay: 1;
  compare: Recording | null;
  task: TaskTexts | null;
}

const maxLinkLength = 30_000;
// What a link unpacks to; more is not something this page made.
const maxReplayBytes = 20_000_000;

function asRecording(value: unknown, where: string): Recording {
  if (typeof value !== "object" || value === null) throw new Error(`${where} is not an object`);
  const { request, events } = value as { request?: unknown; events?: unknown };
  if (typeof request !== "object" || request === null) throw new Error(`${where} has no "request"`);
  if (!Array.isArray(events)) throw new Error(`${where} has no list of "events"`);
  const known: TimedEvent[] = [];
  for (const event of events as unknown[]) {
    if (!isPlanEvent(event)) continue;
    const t = (event as { t?: unknown }).t;
    known.push({ ...event, t: typeof t === "number" && t >= 0 ? t : 0 });
  }
  if (known[0]?.type !== "start") throw new Error(`${where} does not begin with a "start" event`);
  return { request: request as PlanRequest, events: known };
}

// Throws an Error that says what is wrong with the text.
export function parseReplay(text: string): Replay {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("it is not JSON");
  }
  if (typeof value !== "object" || value === null || !("metactrl_replay" in value)) {
    throw new Error('it has no field "metactrl_replay"; open a file that this page saved');
  }
  if (value.metactrl_replay !== 1) throw new Error("it was saved by a newer version of this page");
  const compare = "compare" in value && value.compare !== null ? asRecording(value.compare, '"compare"') : null;
  return { metactrl_replay: 1, ...asRecording(value, "it"), compare, task: asTask("task" in value ? value.task : null) };
}

function asTask(value: unknown): TaskTexts | null {
  if (typeof value !== "object" || value === null) return null;
  const { name, domain, problem } = value as Partial<Record<keyof TaskTexts, unknown>>;
  return typeof name === "string" && typeof domain === "string" && typeof problem === "string" ? { name, domain, problem } : null;
}

// A task to be planned, with what was asked for: what a link behind "#task=" holds.
export interface SharedTask {
  request: PlanRequest;
  task: TaskTexts;
}

async function pipe(bytes: Uint8Array, through: GenericTransformStream, limit: number): Promise<Uint8Array> {
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(through as ReadableWritablePair<Uint8Array, Uint8Array>).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > limit) throw new Error("it is too large");
    parts.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// The part of a link behind its name, or "" when there is too much for one.
export async function linkOf(value: Replay | SharedTask): Promise<string> {
  const packed = await pipe(new TextEncoder().encode(JSON.stringify(value)), new CompressionStream("deflate-raw"), maxReplayBytes);
  let binary = "";
  for (const byte of packed) binary += String.fromCharCode(byte);
  const link = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return link.length <= maxLinkLength ? link : "";
}

async function textOfLink(link: string): Promise<string> {
  let packed: Uint8Array;
  try {
    packed = Uint8Array.from(atob(link.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  } catch {
    throw new Error("the link is damaged");
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await pipe(packed, new DecompressionStream("deflate-raw"), maxReplayBytes));
  } catch {
    throw new Error("the link is damaged or was cut off");
  }
}

export async function replayOfLink(link: string): Promise<Replay> {
  return parseReplay(await textOfLink(link));
}

export async function taskOfLink(link: string): Promise<SharedTask> {
  const text = await textOfLink(link);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("it is not JSON");
  }
  const { request, task } = (value ?? {}) as { request?: unknown; task?: unknown };
  const texts = asTask(task);
  if (texts === null || typeof request !== "object" || request === null) throw new Error("it holds no task");
  return { request: request as PlanRequest, task: texts };
}
