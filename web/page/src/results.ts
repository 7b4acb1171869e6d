// What can be taken away from a run: the plan as text, a behavior tree, the run itself, links.
import { post } from "./client.js";
import { byId, element } from "./dom.js";
import { linkOf, type Replay, type SharedTask } from "./replay.js";
import type { EndEvent } from "./protocol.js";

export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: url, download: name.replace(/[^\w.-]+/g, "_") });
  link.click();
  URL.revokeObjectURL(url);
}

const buttons = ["copy", "download", "tree", "share-run", "save"] as const;

export class Results {
  private replay: Replay | null = null;

  constructor(
    private readonly say: (text: string, kind?: "" | "bad") => void,
    private readonly shared: () => SharedTask,
  ) {
    const on = (id: string, act: () => Promise<void> | void) => {
      byId(id, HTMLButtonElement).addEventListener("click", () => {
        Promise.resolve(act()).catch((error: unknown) => {
          this.say(error instanceof Error ? error.message : String(error), "bad");
        });
      });
    };
    on("copy", () => this.copy(this.end()?.text ?? "", "The plan was copied."));
    on("download", () => {
      save(`${this.name()}.plan`, "text/plain", this.end()?.text ?? "");
    });
    on("tree", () => this.tree());
    on("share", () => this.shareTask());
    on("share-run", () => this.shareRun());
    on("save", () => {
      if (this.replay) save(`${this.name()}.replay.json`, "application/json", JSON.stringify(this.replay));
    });
    this.use(null);
  }

  use(replay: Replay | null): void {
    this.replay = replay;
    const has = (this.end()?.plan ?? null) !== null;
    for (const id of buttons) byId(id, HTMLButtonElement).disabled = replay === null || (!has && id !== "share-run" && id !== "save");
    byId("tree", HTMLButtonElement).disabled = !(has && this.end()?.valid === true && (replay?.task ?? null) !== null);
  }

  private end(): EndEvent | null {
    const last = this.replay?.events.find((event) => event.type === "end");
    return last?.type === "end" ? last : null;
  }

  private name(): string {
    return this.replay?.task?.name ?? "plan";
  }

  private async copy(text: string, said: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.say(said);
    } catch {
      this.say("The browser does not let this page copy; download it instead.", "bad");
    }
  }

  private async tree(): Promise<void> {
    const task = this.replay?.task;
    const plan = this.end()?.plan;
    if (!task || !plan) return;
    const goal = this.replay?.request.goal;
    const answer = (await post("/v1/export", { domain: task.domain, problem: task.problem, ...(goal === undefined ? {} : { goal }), plan, format: "bt" })) as { text: string | null; reason: string };
    if (answer.text === null) this.say(`There is no tree of this plan: ${answer.reason}.`, "bad");
    else {
      save(`${this.name()}.xml`, "application/xml", answer.text);
      this.say("The behavior tree was downloaded, for BehaviorTree.CPP 4 and Groot2.");
    }
  }

  private async shareTask(): Promise<void> {
    await this.link("task", await linkOf(this.shared()), "This task is too long for a link; copy its texts instead.", "It holds the task and the choices.");
  }

  private async shareRun(): Promise<void> {
    if (this.replay) await this.link("replay", await linkOf(this.replay), "This run is too long for a link; save it as a file instead.", "It holds the whole run and needs no model.");
  }

  private async link(name: string, link: string, long: string, holds: string): Promise<void> {
    if (link === "") {
      this.say(long, "bad");
      return;
    }
    history.replaceState(null, "", `#${name}=${link}`);
    try {
      await navigator.clipboard.writeText(location.href);
      this.say(`The link is in the address bar and was copied. ${holds}`);
    } catch {
      this.say(`The link is in the address bar. ${holds}`);
    }
  }
}
