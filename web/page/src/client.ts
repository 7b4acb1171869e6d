// Requests to the service this page came from.
import { EventLines, isPlanEvent, type Diagnostic, type PlanEvent, type PlanRequest } from "./protocol.js";

export class ServiceError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly diagnostics: Diagnostic[] = [],
  ) {
    super(message);
  }
}

let key = "";
export function useKey(value: string): void {
  key = value;
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  if (key !== "") headers.set("Authorization", `Bearer ${key}`);
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ServiceError("The service does not answer. Is 'metactrl serve' still running?", 0);
  }
  if (response.ok) return response;
  let message = `The service answered ${response.status}.`;
  let diagnostics: Diagnostic[] = [];
  try {
    const body = (await response.json()) as { error?: { message?: string; diagnostics?: Diagnostic[] } };
    if (body.error?.message !== undefined) message = body.error.message;
    diagnostics = body.error?.diagnostics ?? [];
  } catch {
    // Not JSON: the status says it all.
  }
  throw new ServiceError(message, response.status, diagnostics);
}

export async function get(path: string): Promise<unknown> {
  return (await ask(path, {})).json();
}

export async function post(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
  const response = await ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
  return response.json();
}

// Calls `on` for every event. Ends when the service is done; aborting the signal ends the work there, too.
export async function streamPlan(request: PlanRequest, signal: AbortSignal, on: (event: PlanEvent) => void): Promise<void> {
  const response = await ask("/v1/plans", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...request, stream: true, trace: request.guidance !== "none" }),
    signal,
  });
  if (response.body === null) throw new ServiceError("The service sent nothing.", response.status);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const lines = new EventLines();
  let ended = false;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    for (const data of lines.push(value)) {
      if (data === "[DONE]") return;
      const event: unknown = JSON.parse(data);
      if (!isPlanEvent(event)) continue;
      ended ||= event.type === "end" || event.type === "error";
      on(event);
    }
  }
  if (!ended) throw new ServiceError("The connection broke before the plan was finished.", 0);
}
