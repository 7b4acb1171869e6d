// What to plan: the task, the choices, the goal in words. Everything that the service offers comes from the service.
import { get, post } from "./client.js";
import { byId, element } from "./dom.js";
import { plain } from "./pddl.js";
import type { Goals, Models, Options, PlanRequest, Tasks } from "./protocol.js";
import type { SharedTask, TaskTexts } from "./replay.js";
import { Texts } from "./texts.js";

const ownTask = "own";
const guidanceNames: Record<string, string> = {
  none: "none: the model alone", syntax: "form only", mask: "rules", uniform: "rules and lookahead", trained: "rules and trained lookahead", search: "no model",
};
const infeasibleNames: Record<string, string> = { error: "say so", "drop-goals": "give up as few as possible", syntax: "let the model write" };
const decodeNames: Record<string, string> = { greedy: "the likeliest, always", sample: "sampling", beam: "beam search", smc: "many samples, weighed" };

interface Shipped extends TaskTexts {
  domainName: string;
  problemName: string;
}

export class Setup {
  readonly texts = new Texts();
  options: Options | null = null;
  private readonly task = byId("task", HTMLSelectElement);
  private readonly instruction = byId("instruction", HTMLInputElement);
  private readonly model = byId("model", HTMLSelectElement);
  private readonly guidance = byId("guidance", HTMLSelectElement);
  private readonly about = byId("about", HTMLParagraphElement);
  private readonly words = byId("words", HTMLDivElement);
  private readonly hypotheses = byId("hypotheses", HTMLDivElement);
  private readonly shipped = new Map<string, Shipped>();
  private wanted: SharedTask | null = null;
  private ownName = "";
  private goal = "";

  constructor() {
    this.task.addEventListener("change", () => {
      this.showTask();
    });
    this.guidance.addEventListener("change", () => {
      this.noteGuidance();
    });
    this.texts.onEdit = () => {
      this.task.value = ownTask;
      this.ownName = "";
      this.clearGoal();
      this.about.textContent = "";
    };
    this.instruction.addEventListener("input", () => {
      this.clearGoal();
      this.offerGoal();
    });
    byId("write-goal", HTMLButtonElement).addEventListener("click", () => void this.writeGoal());
  }

  async load(): Promise<void> {
    const [options, tasks, models] = (await Promise.all([get("/v1/options"), get("/v1/tasks"), get("/v1/models")])) as [Options, Tasks, Models];
    this.options = options;
    this.offerGoal();
    this.fillTasks(tasks);
    this.model.replaceChildren(...models.data.map(({ id, description }) => element("option", { value: id, title: description ?? "" }, id)));
    this.fill("guidance", options.guidance.map(({ name }) => name), options.defaults.guidance, guidanceNames);
    this.fill("format", options.formats, options.defaults.format, {});
    this.fill("decode", options.decode, options.defaults.decode, decodeNames);
    this.fill("on_infeasible", options.on_infeasible, options.defaults.on_infeasible, infeasibleNames);
    byId("horizon", HTMLInputElement).max = String(options.limits.horizon);
    byId("slack", HTMLInputElement).max = String(options.limits.horizon);
    this.noteGuidance();
    if (this.wanted) this.use(this.wanted);
  }

  private fill(id: string, values: string[], chosen: string, names: Record<string, string>): void {
    const select = byId(id, HTMLSelectElement);
    select.replaceChildren(...values.map((value) => element("option", { value }, names[value] ?? plain(value))));
    select.value = chosen;
  }

  private noteGuidance(): void {
    const one = this.options?.guidance.find(({ name }) => name === this.guidance.value);
    byId("guidance-note", HTMLParagraphElement).textContent = one === undefined ? "" : `Guidance “${guidanceNames[one.name] ?? one.name}”: ${one.description}. ${one.guaranteed ? "The plan is guaranteed." : "Nothing is guaranteed."}`;
  }

  private fillTasks(tasks: Tasks): void {
    const groups: HTMLElement[] = [];
    for (const { name, text, problems } of tasks.domains) {
      if (problems.length === 0) continue;
      const group = element("optgroup", { label: plain(name) });
      for (const problem of problems) {
        const value = `${name}/${problem.name}`;
        this.shipped.set(value, { name: plain(problem.name), domain: text, problem: problem.text, domainName: name, problemName: problem.name });
        group.append(element("option", { value }, plain(problem.name)));
      }
      groups.push(group);
    }
    this.task.replaceChildren(...groups, element("option", { value: ownTask }, "your own (below)"));
    if (this.texts.domain === "") this.showTask();
    else this.select(this.texts.domain, this.texts.problem);
  }

  private select(domain: string, problem: string): void {
    const found = [...this.shipped].find(([, one]) => one.domain === domain && one.problem === problem);
    this.task.value = found?.[0] ?? ownTask;
    this.tell();
  }

  private showTask(): void {
    const one = this.shipped.get(this.task.value);
    this.clearGoal();
    this.tell();
    if (one === undefined) {
      byId("own", HTMLDetailsElement).open = true;
      return;
    }
    this.texts.set(one.domain, one.problem);
  }

  // The first comment of a problem says what it is about.
  private tell(): void {
    const one = this.shipped.get(this.task.value);
    this.about.textContent = one === undefined ? "" : (/^;\s*(.+)$/m.exec(one.problem)?.[1] ?? "");
  }

  // The task as it is now.
  current(): TaskTexts {
    const one = this.shipped.get(this.task.value);
    const own = this.ownName || plain(/\(\s*problem\s+([^\s()]+)/i.exec(this.texts.problem)?.[1] ?? "your own task");
    return { name: one?.name ?? own, domain: this.texts.domain, problem: this.texts.problem };
  }

  // Puts a task and its choices into the form.
  use(choice: SharedTask): void {
    this.wanted = choice;
    this.ownName = choice.task.name;
    this.texts.set(choice.task.domain, choice.task.problem);
    if (this.shipped.size > 0) this.select(choice.task.domain, choice.task.problem);
    if (this.options === null) return;
    this.wanted = null;
    const { request } = choice;
    this.instruction.value = request.instruction ?? "";
    this.offerGoal();
    this.goal = request.goal ?? "";
    for (const name of ["model", "guidance", "prefer", "on_infeasible", "decode", "format", "think"] as const) {
      const select = byId(name, HTMLSelectElement);
      const value = String(request[name] ?? this.usual(name));
      if ([...select.options].some((option) => option.value === value)) select.value = value;
    }
    for (const name of ["horizon", "slack", "temperature", "seed"] as const) byId(name, HTMLInputElement).value = request[name] === undefined ? "" : String(request[name]);
    byId("simplify", HTMLInputElement).checked = request.simplify ?? false;
    this.noteGuidance();
  }

  private usual(name: string): string {
    const defaults: Record<string, string> = { ...this.options?.defaults };
    return defaults[name] ?? "";
  }

  request(): PlanRequest {
    const one = this.shipped.get(this.task.value);
    const request: PlanRequest = { domain: one?.domainName ?? this.texts.domain, problem: one?.problemName ?? this.texts.problem, guidance: this.guidance.value };
    if (this.model.value !== "") request.model = this.model.value;
    if (this.instruction.value.trim() !== "") request.instruction = this.instruction.value.trim();
    if (this.goal !== "") request.goal = this.goal;
    for (const name of ["on_infeasible", "decode", "format"] as const) {
      const { value } = byId(name, HTMLSelectElement);
      if (value !== "" && value !== this.usual(name)) request[name] = value;
    }
    for (const name of ["prefer", "think"] as const) {
      const { value } = byId(name, HTMLSelectElement);
      if (value !== "") request[name] = value;
    }
    for (const name of ["horizon", "slack", "temperature", "seed"] as const) {
      const { value } = byId(name, HTMLInputElement);
      if (value !== "") request[name] = Number(value);
    }
    if (byId("simplify", HTMLInputElement).checked) request.simplify = true;
    return request;
  }

  private offerGoal(): void {
    this.words.hidden = this.options?.goals !== true || this.instruction.value.trim() === "";
  }

  private clearGoal(): void {
    this.goal = "";
    this.hypotheses.replaceChildren();
  }

  // What a request for a plan was answered with, as goals to choose from.
  offer(goals: Goals): void {
    this.clearGoal();
    this.showGoals(goals);
    this.words.scrollIntoView({ block: "center" });
  }

  private sayOfGoal(text: string, ...more: HTMLElement[]): void {
    this.hypotheses.replaceChildren(element("p", { class: "note", role: "status" }, text), ...more);
  }

  // What the instruction may mean, as the choices say it is to be read.
  private async writeGoal(): Promise<void> {
    this.clearGoal();
    const button = byId("write-goal", HTMLButtonElement);
    button.disabled = true;
    this.sayOfGoal("The model reads the instruction …");
    try {
      const { domain, problem, instruction, ...choices } = this.request();
      const body: Record<string, unknown> = { domain, problem, instruction };
      for (const name of ["model", "guidance", "think", "horizon", "seed"] as const) {
        if (choices[name] !== undefined) body[name] = choices[name];
      }
      // Where no model makes the plan, one can write the goal all the same.
      if (body.guidance === "search") delete body.guidance;
      this.showGoals((await post("/v1/goals", body)) as Goals);
    } catch (error) {
      this.sayOfGoal(error instanceof Error ? error.message : String(error));
    } finally {
      button.disabled = false;
    }
  }

  private showGoals(answer: Goals): void {
    const missing = (answer.missing ?? []).length > 0 ? `Not known here: ${(answer.missing ?? []).join(", ")}.` : "";
    const thought = answer.reasoning?.text ?? "";
    const thoughts = thought === "" ? [] : [element("details", {}, element("summary", {}, "What the model thought first"), element("p", { class: "thought" }, thought))];
    if (answer.goals.length === 0) {
      this.sayOfGoal(`The instruction could not be turned into a goal: ${answer.reason ?? "say it in other words"}. ${missing}`, ...thoughts);
      return;
    }
    const choices = answer.goals.map((one, index) => {
      const radio = element("input", { type: "radio", name: "hypothesis", value: one.goal });
      radio.checked = index === 0;
      radio.addEventListener("change", () => {
        this.goal = one.goal;
      });
      const state = one.reachable === false ? ", cannot be reached" : one.holds_already === true ? ", holds already" : "";
      const sure = `${Math.round(100 * one.probability)} %${state}${one.mentioned === false ? ", no word of the instruction is about it" : ""}`;
      return element("label", { class: "hypothesis", title: one.goal }, radio, element("span", {}, one.words === "" ? one.goal : one.words), element("span", { class: "sure" }, sure));
    });
    this.goal = answer.goals[0]?.goal ?? "";
    const notes = [missing, answer.doubt ? `Look at it closely: ${answer.doubt}.` : "", "What is guaranteed is so of the goal that you choose; nothing guarantees that it is what was meant."];
    this.hypotheses.replaceChildren(...thoughts, ...choices, ...notes.filter((one) => one !== "").map((one) => element("p", { class: "note" }, one)));
  }
}
