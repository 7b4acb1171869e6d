// One run: how it ended, the world, the plan as a timeline with what the model wanted on it, and on demand its text,
// facts and candidates. Which step is shown is decided outside, so that two runs can be played side by side.
import { element } from "./dom.js";
import { actionWords, factWords, sentenceWords } from "./pddl.js";
import { Picture } from "./picture.js";
import type { ActionEvent, PlanEvent } from "./protocol.js";
import { addEvent, factsAfter, goalsAfter, newRun, stepOfToken, verdict, wish, type Run } from "./run.js";
import { TokenText } from "./tokens.js";

export class Panel {
  run: Run = newRun();
  // A person chose a step.
  onStep: (step: number) => void = () => undefined;
  // There is more of the run than before.
  onGrowth: () => void = () => undefined;

  private step = 0;
  private pending = false;
  private domainText: string | null = null;
  private readonly title = element("h2");
  private readonly pill = element("span", { class: "pill" });
  private readonly status = element("p", { class: "status", role: "status" });
  private readonly why = element("div", { class: "why-not", tabindex: "0", role: "region", "aria-label": "Why there is no plan" });
  private readonly picture = new Picture();
  private readonly caption = element("p", { class: "caption" });
  private readonly list = element("ol", { class: "timeline", tabindex: "0" });
  private readonly goals = element("ul", { class: "goals", "aria-label": "Goals" });
  private readonly tokens: TokenText;
  private readonly thought = element("p", { class: "thought" });
  private readonly thoughtBox: HTMLDetailsElement;
  private readonly facts = element("ul", { class: "facts" });
  private readonly still = element("ul", { class: "facts" });
  private readonly factBox: HTMLDetailsElement;
  private readonly textBox: HTMLDetailsElement;
  private readonly numbers = element("p", { class: "note" });
  private readonly stage: HTMLDivElement;

  constructor(
    readonly root: HTMLElement,
    title: string,
  ) {
    this.tokens = new TokenText(root.id);
    this.title.textContent = title;
    this.list.setAttribute("aria-label", `Plan, ${title.toLowerCase()}`);
    const legend = element(
      "p",
      { class: "legend" },
      element("span", { class: "token forced" }, "forced"), " ", element("span", { class: "token chosen" }, "chosen"), " ",
      element("span", { class: "token chosen up2" }, "raised by the lookahead"), " ", element("span", { class: "token chosen down2" }, "lowered by it"),
    );
    this.textBox = element("details", { class: "text-box" }, element("summary", {}, "Text and tokens"), legend, this.tokens.text, this.tokens.note, this.numbers);
    this.factBox = element("details", { class: "fact-box" }, element("summary", {}, "All facts"), this.facts, this.still);
    this.thoughtBox = element("details", {}, element("summary", {}, "What the model thought first"), this.thought);
    this.stage = element("div", { class: "stage" }, element("div", { class: "worldbox" }, this.picture.root, this.caption), element("div", { class: "side" }, this.why, this.list));
    root.replaceChildren(
      element("div", { class: "panel-head" }, this.title, this.pill),
      this.status, this.stage, this.goals, element("div", { class: "more" }, this.thoughtBox, this.textBox, this.factBox),
    );
    this.tokens.onToken = (index) => {
      this.onStep(stepOfToken(this.run, index));
    };
    this.factBox.addEventListener("toggle", () => { this.drawFacts(); });
    this.clear("");
  }

  name(title: string): void {
    this.title.textContent = title;
    this.list.setAttribute("aria-label", `Plan, ${title.toLowerCase()}`);
  }

  clear(status: string): void {
    this.run = newRun();
    this.step = 0;
    this.tokens.clear();
    this.list.replaceChildren();
    this.why.replaceChildren();
    this.thought.textContent = "";
    this.numbers.textContent = "";
    this.status.textContent = status;
    this.root.classList.toggle("working", status !== "");
    this.setKind("open", "");
    this.draw();
  }

  // Whose facts are drawn; null where the text is not known.
  useDomain(text: string | null): void {
    this.domainText = text;
  }

  add(event: PlanEvent): void {
    addEvent(this.run, event);
    if (event.type === "token") this.tokens.add(event);
    if (event.type === "action") this.addAction(event);
    if (event.type === "start") this.status.textContent = "The model writes …";
    if (event.type === "thought") this.status.textContent = "The model thinks …";
    if (event.type === "end" && event.text !== null) this.tokens.set(event.text);
    if (event.type === "end" || event.type === "error") this.showVerdict();
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.onGrowth();
      this.draw();
    });
  }

  // A whole run at once.
  load(events: PlanEvent[]): void {
    this.clear("");
    for (const event of events) {
      addEvent(this.run, event);
      if (event.type === "token") this.tokens.add(event);
      if (event.type === "action") this.addAction(event);
      if (event.type === "end" && event.text !== null) this.tokens.set(event.text);
    }
    this.showVerdict();
    this.draw();
  }

  // Not said by the service: a broken connection, a request that was refused.
  fail(message: string): void {
    this.run.error = message;
    this.showVerdict();
    this.draw();
  }

  show(step: number): void {
    this.step = step;
    this.draw();
  }

  get pictureSize(): [number, number] {
    this.picture.prepare(this.run, this.domainText);
    return this.picture.size;
  }

  framePicture(size: [number, number]): void {
    this.picture.frame(size);
  }

  get steps(): number {
    return this.run.actions.length;
  }

  private setKind(kind: "good" | "bad" | "open", short: string): void {
    this.root.classList.remove("good", "bad");
    if (kind !== "open") this.root.classList.add(kind);
    this.pill.textContent = short === "" ? "" : `${kind === "good" ? "✓ " : kind === "bad" ? "✗ " : ""}${short}`;
    this.status.className = `status ${kind}`;
  }

  private showVerdict(): void {
    const { short, text, kind } = verdict(this.run);
    const end = this.run.end;
    this.root.classList.remove("working");
    this.setKind(kind, short);
    this.status.textContent = text;
    const total = end?.timings["total"];
    if (end !== null && total !== undefined) {
      const best = end.best_known ? ` The ${end.best_known.shortest ? "shortest" : "best known"} plan has ${end.best_known.length} actions.` : "";
      this.numbers.textContent = `${end.tokens} tokens, ${end.forced_tokens} of them forced; the model was asked ${end.model_calls} times; ${total.toFixed(2)} s.${best}`;
    }
    const reasons = end?.outcome === "plan" ? [] : (end?.why_infeasible ?? []);
    const help = end?.outcome === "plan" ? [] : (end?.would_help ?? []);
    this.why.replaceChildren(
      ...(reasons.length > 0 ? [element("h3", {}, "Why"), element("ul", {}, ...reasons.map((one) => element("li", {}, sentenceWords(one))))] : []),
      ...(help.length > 0 ? [element("h3", {}, "With any of these there would be a plan"), element("ul", {}, ...help.map((one) => element("li", {}, sentenceWords(one))))] : []),
    );
    if (end !== null && end.outcome === "plan" && this.run.start !== null) this.addEnd(kind === "good");
  }

  private addEnd(good: boolean): void {
    const text = good ? "Goal reached" : this.run.actions.some((action) => !action.legal) ? "It ends here" : "Goal not reached";
    this.list.querySelector(".finish")?.remove();
    this.list.append(element("li", { class: `finish ${good ? "good" : "bad"}` }, element("span", { class: "dot", "aria-hidden": "true" }, good ? "✓" : "✗"), element("span", { class: "finish-text" }, text)));
  }

  private addAction(action: ActionEvent): void {
    const { name, rest } = actionWords(action.action);
    const button = element(
      "button",
      { type: "button", class: "action", title: action.action },
      element("span", { class: "dot", "aria-hidden": "true" }, action.legal ? String(action.index + 1) : "✗"), element("b", {}, name), ` ${rest}`,
    );
    button.addEventListener("click", () => {
      this.onStep(action.index + 1);
    });
    const item = element("li", { class: action.legal ? "step" : "step illegal" }, button);
    const { wanted, why, vetoed } = wish(action);
    if (!action.legal) item.append(element("p", { class: "veto" }, `Not possible: ${sentenceWords(action.why_illegal)}.`));
    if (wanted !== "") {
      const line = element("p", { class: vetoed ? "veto" : "wish" }, "the model wanted ", vetoed ? element("s", {}, wanted) : element("i", {}, wanted), `: ${why}`);
      item.append(line);
    }
    const before = action.index === 0 ? new Set(this.run.start?.met ?? []) : goalsAfter(this.run, action.index);
    for (const goal of action.met) {
      const text = before.has(goal) ? undefined : this.run.start?.goals[goal];
      if (text !== undefined && action.legal) item.append(element("p", { class: "reached" }, `✓ ${factWords(text)}`));
    }
    if (action.candidates) {
      const { legal, allowed, illegal } = action.candidates;
      button.title = `${action.action} — of ${legal + illegal} actions ${legal} were possible here, ${allowed} of them lead to the goal in time`;
    }
    this.list.append(item);
  }

  private draw(): void {
    const count = this.run.actions.length;
    const step = Math.min(this.step, count);
    const at = step > 0 ? this.run.actions[step - 1] : undefined;
    const start = this.run.start;
    this.stage.hidden = start === null;
    this.goals.hidden = start === null;
    this.why.hidden = this.why.childElementCount === 0;
    this.list.hidden = count === 0 && this.run.end !== null && this.run.end.outcome !== "plan";
    this.thoughtBox.hidden = this.run.thought === "";
    this.textBox.hidden = start === null || (this.run.end !== null && this.run.end.text === null);
    this.factBox.hidden = start === null;
    this.thought.textContent = this.run.thought;
    this.picture.prepare(this.run, this.domainText);
    this.picture.show(step, { acted: at?.arguments ?? [], wrong: at !== undefined && !at.legal });
    this.caption.replaceChildren(...(at === undefined ? ["At the start"] : [element("span", { class: at.legal ? "" : "wrong-step" }, `${step}. ${actionWords(at.action).name} ${actionWords(at.action).rest}${at.legal ? "" : ": not possible"}`)]));
    [...this.list.children].forEach((item, index) => {
      item.classList.toggle("current", index === step - 1);
      item.classList.toggle("future", index >= step && index < count);
      if (item.querySelector("button")) item.querySelector("button")?.setAttribute("aria-current", index === step - 1 ? "step" : "false");
    });
    this.scrollTo(step);
    this.drawGoals(step);
    this.drawFacts();
  }

  private scrollTo(step: number): void {
    const item = this.list.children[step === this.run.actions.length && this.run.end !== null ? this.list.children.length - 1 : Math.max(0, step - 1)];
    if (!(item instanceof HTMLElement)) return;
    const top = item.offsetTop;
    if (top < this.list.scrollTop || top + item.offsetHeight > this.list.scrollTop + this.list.clientHeight) {
      this.list.scrollTop = Math.max(0, top - this.list.clientHeight / 2 + item.offsetHeight / 2);
    }
  }

  private drawGoals(step: number): void {
    const met = goalsAfter(this.run, step);
    const start = this.run.start;
    const dropped = new Set(start?.goals_dropped ?? []);
    const impossible = this.run.end !== null && this.run.end.outcome === "infeasible";
    const blamed = [this.run.end?.reason ?? "", ...(this.run.end?.why_infeasible ?? [])].join("\n");
    this.goals.replaceChildren(
      ...(start?.goals ?? []).map((goal, index) => {
        const [state, said] = dropped.has(index)
          ? ["dropped", "given up"]
          : impossible && blamed.includes(goal)
            ? ["impossible", "out of reach"]
            : met.has(index)
              ? ["met", "reached"]
              : ["open", "not yet"];
        return element("li", { class: state, title: goal }, factWords(goal), element("span", { class: "goal-state" }, ` ${said}`));
      }),
    );
  }

  private drawFacts(): void {
    if (!this.factBox.open) return;
    const { moving, still } = factsAfter(this.run, Math.min(this.step, this.run.actions.length));
    const items = (facts: typeof moving) =>
      facts.map(({ text, change }) => element("li", change === "" ? {} : { class: change }, change === "removed" ? element("del", {}, text) : text));
    this.facts.replaceChildren(...items(moving));
    this.still.replaceChildren(...items(still));
  }
}
