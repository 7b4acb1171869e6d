// The two editors and what the service says of their texts as one types. The editor is loaded when it is first opened.
import { post, ServiceError } from "./client.js";
import { byId, element } from "./dom.js";
import type { Editor } from "./editor.js";
import type { Check, Diagnostic } from "./protocol.js";

// So long after the last key the texts are checked.
const pauseMilliseconds = 350;

export class Texts {
  // Somebody typed.
  onEdit: () => void = () => undefined;
  onRun: () => void = () => undefined;
  domain = "";
  problem = "";
  private readonly box = byId("own", HTMLDetailsElement);
  private readonly mistakes = byId("mistakes", HTMLUListElement);
  private editors: { domain: Editor; problem: Editor } | null = null;
  private loading: Promise<void> | null = null;
  private timer = 0;
  private abort: AbortController | null = null;
  private setting = false;

  constructor() {
    this.box.addEventListener("toggle", () => {
      if (this.box.open) void this.load();
    });
  }

  set(domain: string, problem: string): void {
    this.domain = domain;
    this.problem = problem;
    this.setting = true;
    if (this.editors) [this.editors.domain.text, this.editors.problem.text] = [domain, problem];
    this.setting = false;
    this.show([], "");
    if (this.editors) void this.check();
  }

  async load(): Promise<void> {
    this.loading ??= this.build();
    await this.loading;
  }

  private async build(): Promise<void> {
    const { Editor } = await import("./editor.js");
    const make = (name: "domain" | "problem") =>
      new Editor(byId(name, HTMLDivElement), name === "domain" ? "Domain in PDDL" : "Problem in PDDL", this[name], (text) => {
        this[name] = text;
        if (this.setting) return;
        this.onEdit();
        window.clearTimeout(this.timer);
        this.timer = window.setTimeout(() => void this.check(), pauseMilliseconds);
      }, () => {
        this.onRun();
      });
    this.editors = { domain: make("domain"), problem: make("problem") };
    await this.check();
  }

  async check(): Promise<void> {
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    try {
      const check = (await post("/v1/check", { domain: this.domain, problem: this.problem }, abort.signal)) as Check;
      const notes = check.notes.slice(0, 3).join(" ");
      this.show(check.diagnostics, check.ok ? `No mistakes: ${check.objects} objects, ${check.ground_actions} possible actions. ${notes}` : "");
    } catch (error) {
      if (abort.signal.aborted || !(error instanceof ServiceError)) return;
      this.show(error.diagnostics, error.diagnostics.length > 0 ? "" : error.message);
    }
  }

  // Mistakes of a request that was refused: the editor opens at the first.
  async point(diagnostics: Diagnostic[]): Promise<void> {
    this.box.open = true;
    await this.load();
    this.show(diagnostics, "");
    const first = diagnostics.find(({ severity }) => severity === "error");
    if (first) this.goTo(first);
  }

  private goTo(one: Diagnostic): void {
    const editor = one.file === "domain" ? this.editors?.domain : this.editors?.problem;
    editor?.goTo(one.line, one.column);
  }

  private show(all: Diagnostic[], good: string): void {
    const diagnostics = [...all].sort((a, b) => Number(b.severity === "error") - Number(a.severity === "error"));
    for (const name of ["domain", "problem"] as const) this.editors?.[name].mark(diagnostics.filter(({ file, line }) => file === name && line > 0));
    const items = diagnostics.slice(0, 8).map((one) => {
      const button = element("button", { type: "button", class: `mistake ${one.severity}` }, element("b", {}, `${one.file} ${one.line}:${one.column}`), ` ${one.message}${one.hint === "" ? "" : `; ${one.hint}`}`);
      button.addEventListener("click", () => {
        this.goTo(one);
      });
      return element("li", {}, button);
    });
    if (diagnostics.length > 8) items.push(element("li", {}, `and ${diagnostics.length - 8} more`));
    if (good !== "") items.push(element("li", { class: "fine" }, good));
    this.mistakes.replaceChildren(...items);
  }
}
