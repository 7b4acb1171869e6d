// Recorded runs: a file, or a link that carries the whole run behind its '#', compressed.
import { isPlanEvent, type PlanRequest, type TimedEvent } from "./protocol.js";

export interface Recording {
  request: PlanRequest;
  events: TimedEvent[];
}

export interface Replay extends Recording {
  metactrl_replay: 1;
  compare: Recording | null;
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
  return { metactrl_replay: 1, ...asRecording(value, "it"), compare };
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

// The part of a link behind "#replay=", or "" when the run is too long for one.
export async function linkOf(replay: Replay): Promise<string> {
  const packed = await pipe(new TextEncoder().encode(JSON.stringify(replay)), new CompressionStream("deflate-raw"), maxReplayBytes);
  let binary = "";
  for (const byte of packed) binary += String.fromCharCode(byte);
  const link = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return link.length <= maxLinkLength ? link : "";
}

export async function replayOfLink(link: string): Promise<Replay> {
  let packed: Uint8Array;
  try {
    packed = Uint8Array.from(atob(link.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  } catch {
    throw new Error("the link is damaged");
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await pipe(packed, new DecompressionStream("deflate-raw"), maxReplayBytes));
  } catch {
    throw new Error("the link is damaged or was cut off");
  }
  return parseReplay(text);
}
