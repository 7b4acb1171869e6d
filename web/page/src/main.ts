// The page: it opens on a run that was recorded, and from there plans, compares, plays back and shares.
import { get, ServiceError, streamPlan, useKey } from "./client.js";
import { byId } from "./dom.js";
import { Panel } from "./panel.js";
import { Player } from "./player.js";
import { goalsToChoose, type Goals, type PlanRequest, type TimedEvent } from "./protocol.js";
import { parseReplay, replayOfLink, taskOfLink, type Recording, type Replay, type TaskTexts } from "./replay.js";
import { Results } from "./results.js";
import { Setup } from "./setup.js";

// What the opening run says beside its events.
interface Opening {
  headline: string;
  lead: string;
}

const comparedNames: Record<string, string> = { none: "The model alone", syntax: "The model, held to the form only", search: "The lookahead, without a model", before: "The run before" };

function guidedName(request: PlanRequest, compared: boolean): string {
  return comparedNames[request.guidance] ?? `The ${compared ? "same " : ""}model with Meta-Ctrl`;
}

class Page {
  private readonly setup = new Setup();
  private readonly player = new Player();
  private readonly guided = new Panel(byId("guided", HTMLElement), "The same model with Meta-Ctrl");
  private readonly bare = new Panel(byId("bare", HTMLElement), "The model alone");
  private readonly results: Results;
  private readonly compare = byId("compare", HTMLSelectElement);
  private readonly goButton = byId("go", HTMLButtonElement);
  private readonly planButton = byId("plan", HTMLButtonElement);
  private readonly stopButton = byId("stop", HTMLButtonElement);
  private readonly message = byId("message", HTMLParagraphElement);
  private readonly headline = byId("headline", HTMLHeadingElement);
  private readonly lead = byId("lead", HTMLParagraphElement);
  private readonly keyForm = byId("key-form", HTMLFormElement);
  private abort: AbortController | null = null;
  private replay: Replay | null = null;
  private ready = false;

  constructor() {
    this.results = new Results(
      (text, kind) => { this.say(text, kind); },
      () => ({ request: this.setup.request(), task: this.setup.current() }),
    );
    for (const panel of [this.guided, this.bare]) {
      panel.onStep = (step) => { this.player.goTo(step); };
      panel.onGrowth = () => { this.count(); };
    }
    this.player.onStep = (step) => {
      this.guided.show(step);
      this.bare.show(step);
    };
    this.setup.texts.onRun = () => { this.ask(); };
    byId("form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.defaultPrevented) this.ask();
      if (event.key === "Escape") this.abort?.abort();
    });
    this.stopButton.addEventListener("click", () => this.abort?.abort());
    const file = byId("open", HTMLInputElement);
    file.addEventListener("change", () => {
      if (file.files?.[0]) void this.openFile(file.files[0]);
      file.value = "";
    });
    document.addEventListener("dragover", (event) => { event.preventDefault(); });
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
    for (const side of ["bare", "guided"] as const) {
      byId(`side-${side}`, HTMLButtonElement).addEventListener("click", () => { this.showSide(side); });
    }
    byId("to-own", HTMLAnchorElement).addEventListener("click", () => { byId("own", HTMLDetailsElement).open = true; });
    window.addEventListener("hashchange", () => void this.openLink());
  }

  async begin(): Promise<void> {
    await Promise.all([this.load(), this.openLink().then((opened) => (opened ? undefined : this.openFirst()))]);
  }

  private say(text: string, kind: "" | "bad" = ""): void {
    this.message.textContent = text;
    this.message.className = kind;
  }

  // Menus. A recorded run needs none of this, so a service that cannot be reached is only said.
  private async load(): Promise<void> {
    try {
      await this.setup.load();
      this.keyForm.hidden = true;
      this.ready = true;
      this.working(this.abort !== null);
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error), "bad");
      if (error instanceof ServiceError && error.status === 401) {
        this.say("This service asks for its key.");
        this.keyForm.hidden = false;
      }
    }
  }

  // The run that ships with the page.
  private async openFirst(): Promise<void> {
    try {
      const value = (await get("/opening.json")) as Opening & Replay;
      this.headline.textContent = value.headline;
      this.lead.textContent = value.lead;
      this.show(parseReplay(JSON.stringify(value)));
    } catch {
      // Without it the page is empty until somebody plans.
    }
  }

  private working(on: boolean): void {
    this.goButton.disabled = on || !this.ready;
    this.planButton.disabled = on || !this.ready;
    this.goButton.hidden = on;
    this.stopButton.hidden = !on;
    document.body.classList.toggle("busy", on);
  }

  private count(): void {
    this.player.extend(Math.max(this.guided.steps, this.bareShown() ? this.bare.steps : 0));
    this.scale();
  }

  // Side by side, to one scale.
  private scale(): void {
    const seen = [this.guided, this.bare].filter((panel) => panel.root.offsetParent !== null);
    const sizes = seen.map((panel) => panel.pictureSize);
    for (const panel of seen) panel.framePicture([Math.max(...sizes.map(([w]) => w)), Math.max(...sizes.map(([, h]) => h))]);
  }

  private bareShown(): boolean {
    return !this.bare.root.hidden;
  }

  // Where there is room for one run only.
  private showSide(side: "bare" | "guided"): void {
    byId("runs", HTMLElement).dataset["side"] = side;
    for (const one of ["bare", "guided"]) byId(`side-${one}`, HTMLButtonElement).setAttribute("aria-pressed", String(one === side));
    this.player.refresh();
    this.scale();
  }

  private showBare(on: boolean): void {
    this.bare.root.hidden = !on;
    byId("sides", HTMLElement).hidden = !on;
    if (!on) this.showSide("guided");
    byId("runs", HTMLElement).classList.toggle("single", !on);
  }

  private ask(): void {
    if (this.ready && this.abort === null) void this.plan();
  }

  // A run, recorded while it is shown. What it cannot show becomes its verdict. Where somebody has to say first what is meant, there
  // are goals to choose from instead.
  private async record(panel: Panel, request: PlanRequest, signal: AbortSignal): Promise<Recording & { goals: Goals | null }> {
    const events: TimedEvent[] = [];
    let goals: Goals | null = null;
    const begin = performance.now();
    panel.clear("Asked; the task is being compiled …");
    try {
      await streamPlan(request, signal, (event) => {
        goals = event.type === "end" ? goalsToChoose(event) : null;
        if (goals !== null) return;
        events.push({ ...event, t: Math.round(performance.now() - begin) / 1000 });
        panel.add(event);
      });
    } catch (error) {
      panel.fail(signal.aborted ? "Stopped." : error instanceof Error ? error.message : String(error));
      if (error instanceof ServiceError && error.diagnostics.length > 0) {
        this.say(`There are mistakes in the task: ${error.message}`, "bad");
        void this.setup.texts.point(error.diagnostics);
      }
    }
    return { request, events, goals };
  }

  private async plan(): Promise<void> {
    const abort = new AbortController();
    const before = this.replay;
    this.abort = abort;
    this.working(true);
    this.say("");
    const request = this.setup.request();
    const task = this.setup.current();
    const against = this.compare.value;
    const compared = against !== "" && against !== request.guidance && (against !== "before" || before !== null);
    if (location.hash.length > 40) history.replaceState(null, "", location.pathname);
    this.showBare(compared);
    this.title(task, request, against === "before" ? "before" : against);
    this.guided.useDomain(task.domain);
    this.bare.useDomain(against === "before" ? (before?.task?.domain ?? null) : task.domain);
    let bare: Recording | null = null;
    if (compared && against === "before" && before) {
      bare = { request: before.request, events: before.events };
      this.bare.load(before.events);
    } else if (compared) {
      this.bare.clear("Comes next.");
    }
    // On a phone the run is what should be seen, not the button.
    this.showSide("guided");
    const place = window.innerWidth < 800 ? (compared ? byId("sides", HTMLElement) : this.guided.root) : this.headline;
    place.scrollIntoView({ behavior: window.matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth", block: "start" });
    this.player.play(0, true);
    const guided = await this.record(this.guided, request, abort.signal);
    if (guided.goals !== null) {
      this.guided.clear("Nothing is planned yet: choose what the instruction means.");
      this.bare.clear("");
      this.showBare(false);
      this.say("The task states no goal. Choose below what the instruction means, and press Plan again.");
    } else if (compared && bare === null && !abort.signal.aborted) {
      if (guided.events.length > 0) {
        const plain: PlanRequest = { ...request, guidance: against };
        // These follow a guidance; the model alone has none.
        if (against === "none" && (plain.decode === "beam" || plain.decode === "smc")) delete plain.decode;
        bare = await this.record(this.bare, plain, abort.signal);
      } else {
        this.bare.clear("");
        this.showBare(false);
      }
    }
    this.abort = null;
    this.working(false);
    this.count();
    this.player.settle();
    this.replay = guided.events[0]?.type === "start" ? { metactrl_replay: 1, request: guided.request, events: guided.events, compare: bare?.events[0]?.type === "start" ? { request: bare.request, events: bare.events } : null, task } : before;
    this.results.use(this.replay);
    this.goButton.textContent = "Plan again";
    if (guided.goals !== null) this.setup.offer(guided.goals);
  }

  private title(task: TaskTexts, request: PlanRequest, against: string): void {
    this.headline.textContent = task.name.charAt(0).toUpperCase() + task.name.slice(1);
    this.lead.textContent = /^;\s*(.+)$/m.exec(task.problem)?.[1] ?? request.instruction ?? "";
    this.guided.name(guidedName(request, this.bareShown()));
    this.bare.name(comparedNames[against] ?? "The model alone");
  }

  // A recorded run, played from its start.
  private show(replay: Replay): void {
    this.abort?.abort();
    this.replay = replay;
    this.results.use(replay);
    this.showBare(replay.compare !== null);
    for (const panel of [this.guided, this.bare]) panel.useDomain(replay.task?.domain ?? null);
    this.guided.name(guidedName(replay.request, replay.compare !== null));
    this.guided.load(replay.events);
    if (replay.compare) {
      this.bare.name(replay.compare.request.guidance === replay.request.guidance ? "The run before" : (comparedNames[replay.compare.request.guidance] ?? "Another run"));
      this.bare.load(replay.compare.events);
    }
    this.count();
    if (replay.task) this.setup.use({ request: replay.request, task: replay.task });
    this.player.play(0);
  }

  private async openFile(file: File): Promise<void> {
    try {
      this.open(parseReplay(await file.text()), `Replay of ${file.name}`);
    } catch (error) {
      this.say(`${file.name} cannot be replayed: ${error instanceof Error ? error.message : String(error)}.`, "bad");
    }
  }

  private open(replay: Replay, said: string): void {
    this.say(said);
    const start = replay.events[0];
    const task = replay.task ?? { name: start?.type === "start" ? start.task : "a task", domain: "", problem: "" };
    this.title(task, replay.request, "none");
    this.show(replay);
  }

  // Whether the address held something.
  private async openLink(): Promise<boolean> {
    const [, kind, link] = /^#(replay|task)=(.+)$/.exec(location.hash) ?? [];
    if (link === undefined) return false;
    try {
      if (kind === "replay") {
        this.open(await replayOfLink(link), "Replay of a shared run");
      } else {
        const shared = await taskOfLink(link);
        this.setup.use(shared);
        this.title(shared.task, shared.request, "none");
        this.showBare(false);
        this.say("A shared task: press Plan.");
      }
      return true;
    } catch (error) {
      this.say(`The link cannot be ${kind === "replay" ? "replayed" : "opened"}: ${error instanceof Error ? error.message : String(error)}.`, "bad");
      return false;
    }
  }
}

void new Page().begin();
