// Draws one run into its panel: the text token by token, the actions, the facts and the goals. Events may come by the
// hundred per second, so tokens and actions are appended, and facts and goals drawn once per frame at most.
import { element } from "./dom.js";
import type { ActionEvent, TokenEvent } from "./protocol.js";
import { addEvent, factsAfter, goalsAfter, movedLevel, movedText, newRun, stepOfToken, verdict, wish, type Run } from "./run.js";
import type { PlanEvent } from "./protocol.js";

function percent(p: number | null): string {
  return p === null ? "" : p > 0.0005 || p === 0 ? `${(100 * p).toFixed(1)} %` : "< 0.1 %";
}

function shown(text: string): string {
  return text === "" ? "end of turn" : JSON.stringify(text);
}

function tokenNote(token: TokenEvent): string {
  if (token.forced) return `${shown(token.text)}: forced, nothing else was possible; the model was not asked.`;
  const parts = [`${shown(token.text)}: one of ${token.choices} allowed`];
  if (token.p_model !== null) parts.push(`the model alone gives it ${percent(token.p_model)}`);
  if (token.p_guided !== null) parts.push(`with the lookahead ${percent(token.p_guided)} (moved ${movedText(token)})`);
  if (token.preferred !== null && token.preferred.id !== token.id) {
    const veto = token.preferred.allowed ? "" : ", which is not allowed here";
    parts.push(`the model's first choice was ${shown(token.preferred.text)} at ${percent(token.preferred.p)}${veto}`);
  }
  return parts.join("; ") + ".";
}

export class RunView {
  run: Run = newRun();
  // Called when a person chooses a step.
  onStep: () => void = () => undefined;

  private step: number | null = null; // null: the newest
  private token = -1;
  private pending = false;
  private readonly status = element("p", { class: "status", role: "status" });
  private readonly text = element("div", {
    class: "text",
    tabindex: "0",
    role: "listbox",
    "aria-label": "The text, token by token. Arrow keys move from token to token.",
  });
  private readonly note = element("p", { class: "note" });
  private readonly list = element("ol", { class: "actions" });
  private readonly goals = element("ul", { class: "goals" });
  private readonly bar = element("progress", { max: "1", value: "0", "aria-label": "Goals reached" });
  private readonly slider = element("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": "Step" });
  private readonly stepName = element("span", { class: "step-name" });
  private readonly facts = element("ul", { class: "facts" });
  private readonly still = element("ul", { class: "facts" });
  private readonly stillBox = element("details", {}, element("summary", {}, "Facts that nothing here changed"), this.still);
  private readonly id: string;

  constructor(root: HTMLElement, title: string, detailed: boolean) {
    this.id = root.id;
    root.replaceChildren(
      element("h2", {}, title),
      this.status,
      element("h3", {}, "Text"),
      this.text,
      this.note,
      element("h3", {}, "Actions"),
      this.list,
    );
    if (detailed) {
      root.append(
        element("h3", {}, "Goals"),
        this.bar,
        this.goals,
        element("h3", {}, "World"),
        element("label", { class: "scrub" }, this.slider, this.stepName),
        this.facts,
        this.stillBox,
      );
    }
    this.slider.addEventListener("input", () => {
      this.showStep(Number(this.slider.value));
    });
    this.text.addEventListener("keydown", (event) => {
      this.onKey(event);
    });
    this.text.addEventListener("click", (event) => {
      const index = event.target instanceof HTMLElement ? event.target.dataset["token"] : undefined;
      if (index !== undefined) this.showToken(Number(index));
    });
    this.clear("");
  }

  clear(status: string): void {
    this.run = newRun();
    this.step = null;
    this.token = -1;
    this.text.replaceChildren();
    this.list.replaceChildren();
    this.note.textContent = "";
    this.status.textContent = status;
    this.status.className = "status";
    this.draw();
  }

  add(event: PlanEvent): void {
    addEvent(this.run, event);
    if (event.type === "token") this.addToken(event);
    if (event.type === "action") this.addAction(event);
    if (event.type === "end" && this.run.tokens.length === 0 && event.text !== null) this.text.textContent = event.text;
    if (event.type === "start") this.status.textContent = "Thinking …";
    if (event.type === "token") this.status.textContent = "Writing …";
    if (event.type === "end" || event.type === "error") this.showVerdict();
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  // Not said by the service: a broken connection, a request that was refused.
  fail(message: string): void {
    this.run.error = message;
    this.showVerdict();
  }

  private showVerdict(): void {
    const { text, kind } = verdict(this.run);
    const end = this.run.end;
    const total = end?.timings["total"];
    const cost = end === null || total === undefined ? "" : ` ${end.tokens} tokens, ${end.forced_tokens} forced, ${end.model_calls} model calls, ${total.toFixed(2)} s.`;
    this.status.textContent = text + (kind === "open" ? "" : cost);
    this.status.className = `status ${kind}`;
  }

  private addToken(token: TokenEvent): void {
    const level = movedLevel(token);
    const kind = token.forced ? "forced" : level === 0 ? "chosen" : level > 0 ? `chosen up${level}` : `chosen down${-level}`;
    const span = element(
      "span",
      { class: `token ${kind}`, role: "option", "aria-selected": "false", "data-token": String(token.index), id: `${this.id}-token-${token.index}` },
      token.end ? "■" : token.text,
    );
    span.title = tokenNote(token);
    this.text.append(span);
    this.text.scrollTop = this.text.scrollHeight;
  }

  private addAction(action: ActionEvent): void {
    const button = element("button", { type: "button", class: action.legal ? "action" : "action illegal" }, action.action);
    button.addEventListener("click", () => {
      this.showStep(action.index + 1);
      this.onStep();
    });
    const item = element("li", {}, button);
    const { text, vetoed } = wish(action);
    if (!action.legal) item.append(element("p", { class: "why veto" }, `Not possible: ${action.why_illegal}.`));
    if (text !== "") item.append(element("p", { class: vetoed ? "why veto" : "why" }, text));
    this.list.append(item);
  }

  private showStep(step: number): void {
    this.step = step;
    this.draw();
  }

  private showToken(index: number): void {
    const token = this.run.tokens[index];
    if (token === undefined) return;
    this.text.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
    const span = this.text.children[index];
    span?.setAttribute("aria-selected", "true");
    span?.scrollIntoView({ block: "nearest" });
    if (span) this.text.setAttribute("aria-activedescendant", span.id);
    this.token = index;
    this.note.textContent = tokenNote(token);
    this.showStep(stepOfToken(this.run, index));
  }

  private onKey(event: KeyboardEvent): void {
    const last = this.run.tokens.length - 1;
    const moves: Record<string, number> = { ArrowRight: this.token + 1, ArrowLeft: this.token - 1, Home: 0, End: last };
    const next = moves[event.key];
    if (next === undefined || last < 0) return;
    event.preventDefault();
    this.showToken(Math.max(0, Math.min(last, next)));
  }

  private draw(): void {
    const count = this.run.actions.length;
    const step = Math.min(this.step ?? count, count);
    this.slider.max = String(count);
    this.slider.value = String(step);
    const at = this.run.actions[step - 1];
    this.stepName.textContent = at === undefined ? "at the start" : `after step ${step} of ${count}, ${at.action}`;
    const { moving, still } = factsAfter(this.run, step);
    const items = (facts: typeof moving) =>
      facts.map(({ text, change }) => element("li", change === "" ? {} : { class: change }, change === "removed" ? element("del", {}, text) : text));
    this.facts.replaceChildren(...items(moving));
    this.still.replaceChildren(...items(still));
    this.stillBox.hidden = still.length === 0;
    const met = goalsAfter(this.run, step);
    const goals = this.run.start?.goals ?? [];
    const dropped = new Set(this.run.start?.goals_dropped ?? []);
    this.bar.max = Math.max(1, goals.length);
    this.bar.value = met.size;
    this.goals.replaceChildren(
      ...goals.map((goal, index) => {
        const state = dropped.has(index) ? "dropped" : met.has(index) ? "met" : "open";
        return element("li", { class: state }, `${goal} `, element("span", { class: "goal-state" }, state === "met" ? "reached" : state));
      }),
    );
    [...this.list.children].forEach((item, index) => {
      item.classList.toggle("current", index === step - 1);
    });
  }
}
