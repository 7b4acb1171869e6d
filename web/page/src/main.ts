// The page: choose a task, press plan, watch; save, share and replay what was seen.
import { get, ServiceError, streamPlan, useKey } from "./client.js";
import { byId, element } from "./dom.js";
import type { Models, Options, PlanRequest, Tasks, TimedEvent } from "./protocol.js";
import { linkOf, parseReplay, replayOfLink, type Recording, type Replay } from "./replay.js";
import { RunView } from "./view.js";

const own = "own";

class Page {
  private readonly task = byId("task", HTMLSelectElement);
  private readonly domain = byId("domain", HTMLTextAreaElement);
  private readonly problem = byId("problem", HTMLTextAreaElement);
  private readonly instruction = byId("instruction", HTMLInputElement);
  private readonly model = byId("model", HTMLSelectElement);
  private readonly guidance = byId("guidance", HTMLSelectElement);
  private readonly compare = byId("compare", HTMLInputElement);
  private readonly planButton = byId("plan", HTMLButtonElement);
  private readonly stopButton = byId("stop", HTMLButtonElement);
  private readonly againButton = byId("again", HTMLButtonElement);
  private readonly saveButton = byId("save", HTMLButtonElement);
  private readonly shareButton = byId("share", HTMLButtonElement);
  private readonly speed = byId("speed", HTMLSelectElement);
  private readonly message = byId("message", HTMLParagraphElement);
  private readonly keyForm = byId("key-form", HTMLFormElement);
  private readonly guided = new RunView(byId("guided", HTMLElement), "With the constraint", true);
  private readonly bare = new RunView(byId("bare", HTMLElement), "The same task, the model alone", false);
  private readonly bareBox = byId("bare", HTMLElement);
  private texts = new Map<string, { domain: string; problem: string; domainName: string; problemName: string }>();
  private abort: AbortController | null = null;
  private replay: Replay | null = null;

  constructor() {
    byId("form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      void this.plan();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !this.planButton.disabled) void this.plan();
      if (event.key === "Escape") this.abort?.abort();
    });
    this.stopButton.addEventListener("click", () => this.abort?.abort());
    this.againButton.addEventListener("click", () => {
      if (this.replay) void this.show(this.replay);
    });
    this.saveButton.addEventListener("click", () => {
      this.save();
    });
    this.shareButton.addEventListener("click", () => void this.share());
    this.task.addEventListener("change", () => {
      this.showTask();
    });
    for (const area of [this.domain, this.problem]) {
      area.addEventListener("input", () => {
        this.task.value = own;
      });
    }
    const file = byId("open", HTMLInputElement);
    file.addEventListener("change", () => {
      if (file.files?.[0]) void this.openFile(file.files[0]);
      file.value = "";
    });
    document.addEventListener("dragover", (event) => {
      event.preventDefault();
    });
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer?.files[0]) void this.openFile(event.dataTransfer.files[0]);
    });
    this.keyForm.addEventListener("submit", (event) => {
      event.preventDefault();
      useKey(byId("key", HTMLInputElement).value);
      this.say("");
      void this.load();
    });
    window.addEventListener("hashchange", () => void this.openLink());
  }

  async begin(): Promise<void> {
    await Promise.all([this.load(), this.openLink()]);
  }

  private say(text: string, kind: "" | "bad" = ""): void {
    this.message.textContent = text;
    this.message.className = kind;
  }

  // Menus. A replay needs none of this, so a service that cannot be reached is only said.
  private async load(): Promise<void> {
    try {
      const [options, tasks, models] = (await Promise.all([get("/v1/options"), get("/v1/tasks"), get("/v1/models")])) as [Options, Tasks, Models];
      this.keyForm.hidden = true;
      this.fillTasks(tasks);
      this.model.replaceChildren(...models.data.map(({ id, description }) => element("option", { value: id, title: description ?? "" }, id)));
      const choices = options.guidance.filter(({ name }) => name !== "none");
      this.guidance.replaceChildren(...choices.map(({ name, description }) => element("option", { value: name }, `${name}: ${description}`)));
      this.guidance.value = options.defaults.guidance;
      this.planButton.disabled = this.abort !== null;
    } catch (error) {
      if (error instanceof ServiceError && error.status === 401) {
        this.keyForm.hidden = false;
        byId("key", HTMLInputElement).focus();
        this.say("This service wants an API key.", "bad");
      } else {
        this.say(`${error instanceof Error ? error.message : String(error)} Recorded runs can be opened all the same.`, "bad");
      }
    }
  }

  private fillTasks(tasks: Tasks): void {
    const groups: HTMLElement[] = [];
    for (const { name, text, problems } of tasks.domains) {
      if (problems.length === 0) continue;
      const group = element("optgroup", { label: name });
      for (const problem of problems) {
        const value = `${name}/${problem.name}`;
        this.texts.set(value, { domain: text, problem: problem.text, domainName: name, problemName: problem.name });
        group.append(element("option", { value }, problem.name.replaceAll("_", " ")));
      }
      groups.push(group);
    }
    this.task.replaceChildren(...groups, element("option", { value: own }, "Your own PDDL (below)"));
    const first = [...this.texts.keys()].find((name) => name.endsWith("/dishwasher")) ?? this.texts.keys().next().value;
    if (first !== undefined && this.domain.value === "") this.task.value = first;
    this.showTask();
  }

  private showTask(): void {
    const texts = this.texts.get(this.task.value);
    byId("own", HTMLDetailsElement).open = texts === undefined;
    if (texts === undefined) return;
    this.domain.value = texts.domain;
    this.problem.value = texts.problem;
  }

  private request(): PlanRequest {
    const texts = this.texts.get(this.task.value);
    const request: PlanRequest = {
      domain: texts?.domainName ?? this.domain.value,
      problem: texts?.problemName ?? this.problem.value,
      model: this.model.value,
      guidance: this.guidance.value,
    };
    if (this.instruction.value.trim() !== "") request.instruction = this.instruction.value.trim();
    return request;
  }

  private working(on: boolean): void {
    this.planButton.disabled = on || this.model.value === "";
    this.stopButton.disabled = !on;
    for (const button of [this.againButton, this.saveButton, this.shareButton]) button.disabled = on || this.replay === null;
  }

  // A run, recorded while it is shown. What it cannot show becomes its verdict.
  private async record(view: RunView, request: PlanRequest, signal: AbortSignal): Promise<Recording> {
    const events: TimedEvent[] = [];
    const begin = performance.now();
    view.clear("Asked …");
    try {
      await streamPlan(request, signal, (event) => {
        events.push({ ...event, t: Math.round(performance.now() - begin) / 1000 });
        view.add(event);
      });
    } catch (error) {
      view.fail(signal.aborted ? "Stopped." : error instanceof Error ? error.message : String(error));
    }
    return { request, events };
  }

  private async plan(): Promise<void> {
    const abort = new AbortController();
    this.abort = abort;
    this.replay = null;
    this.working(true);
    this.say("");
    const request = this.request();
    const compare = this.compare.checked;
    this.bareBox.hidden = !compare;
    if (compare) this.bare.clear("Waits for the other one.");
    const guided = await this.record(this.guided, request, abort.signal);
    let bare: Recording | null = null;
    if (compare && !abort.signal.aborted && guided.events.length > 0) {
      bare = await this.record(this.bare, { ...request, guidance: "none" }, abort.signal);
    }
    if (guided.events.length > 0) this.replay = { metactrl_replay: 1, ...guided, compare: bare && bare.events.length > 0 ? bare : null };
    this.abort = null;
    this.working(false);
  }

  private async play(view: RunView, recording: Recording, signal: AbortSignal): Promise<void> {
    view.clear("Replay");
    const slow = Number(this.speed.value);
    let before = 0;
    for (const event of recording.events) {
      const wait = Math.min(event.t - before, 1) * slow * 1000;
      before = event.t;
      if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
      if (signal.aborted) {
        view.fail("Stopped.");
        return;
      }
      view.add(event);
    }
  }

  private async show(replay: Replay): Promise<void> {
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    this.replay = replay;
    this.working(true);
    this.bareBox.hidden = replay.compare === null;
    if (replay.compare) this.bare.clear("Waits for the other one.");
    await this.play(this.guided, replay, abort.signal);
    if (replay.compare && !abort.signal.aborted) await this.play(this.bare, replay.compare, abort.signal);
    if (this.abort === abort) this.abort = null;
    this.working(false);
  }

  private save(): void {
    if (this.replay === null) return;
    const url = URL.createObjectURL(new Blob([JSON.stringify(this.replay)], { type: "application/json" }));
    const name = this.guided.run.start?.task ?? "plan";
    const link = element("a", { href: url, download: `${name.replace(/[^\w-]+/g, "_")}.replay.json` });
    link.click();
    URL.revokeObjectURL(url);
  }

  private async share(): Promise<void> {
    if (this.replay === null) return;
    const link = await linkOf(this.replay);
    if (link === "") {
      this.say("This run is too long for a link; save it as a file instead.", "bad");
      return;
    }
    history.replaceState(null, "", `#replay=${link}`);
    try {
      await navigator.clipboard.writeText(location.href);
      this.say("The link is in the address bar and was copied. It holds the whole run and needs no model.");
    } catch {
      this.say("The link is in the address bar. It holds the whole run and needs no model.");
    }
  }

  private async openFile(file: File): Promise<void> {
    try {
      const replay = parseReplay(await file.text());
      this.say(`Replay of ${file.name}`);
      await this.show(replay);
    } catch (error) {
      this.say(`${file.name} cannot be replayed: ${error instanceof Error ? error.message : String(error)}.`, "bad");
    }
  }

  private async openLink(): Promise<void> {
    const link = /^#replay=(.+)$/.exec(location.hash)?.[1];
    if (link === undefined) return;
    try {
      const replay = await replayOfLink(link);
      this.say("Replay of a shared run");
      await this.show(replay);
    } catch (error) {
      this.say(`The shared run cannot be replayed: ${error instanceof Error ? error.message : String(error)}.`, "bad");
    }
  }
}

void new Page().begin();
