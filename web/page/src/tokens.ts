// The text as the model wrote it, token by token, for those who want to know how. Tokens come by the hundred per second,
// so they are appended; the arrow keys go from one to the next.
import { element } from "./dom.js";
import type { TokenEvent } from "./protocol.js";
import { movedLevel, movedText } from "./run.js";

function percent(p: number | null): string {
  return p === null ? "" : p > 0.0005 || p === 0 ? `${(100 * p).toFixed(1)} %` : "< 0.1 %";
}

function shown(text: string): string {
  return text === "" ? "end of turn" : JSON.stringify(text);
}

export function tokenNote(token: TokenEvent): string {
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

export class TokenText {
  // Called with the index of a token that a person chose.
  onToken: (index: number) => void = () => undefined;
  readonly text: HTMLDivElement;
  readonly note = element("p", { class: "note" });
  private tokens: TokenEvent[] = [];
  private chosen = -1;

  constructor(private readonly id: string) {
    this.text = element("div", { class: "text", tabindex: "0", role: "listbox", "aria-label": "The text, token by token. Arrow keys move from token to token." });
    this.text.addEventListener("keydown", (event) => {
      this.onKey(event);
    });
    this.text.addEventListener("click", (event) => {
      const index = event.target instanceof HTMLElement ? event.target.dataset["token"] : undefined;
      if (index !== undefined) this.choose(Number(index));
    });
  }

  clear(): void {
    this.tokens = [];
    this.chosen = -1;
    this.text.replaceChildren();
    this.text.removeAttribute("aria-activedescendant");
    this.note.textContent = "";
  }

  // Text that came at once.
  set(text: string): void {
    if (this.tokens.length === 0) this.text.replaceChildren(element("span", { class: "token", role: "option", "aria-selected": "false" }, text));
  }

  add(token: TokenEvent): void {
    const level = movedLevel(token);
    const kind = token.forced ? "forced" : level === 0 ? "chosen" : level > 0 ? `chosen up${level}` : `chosen down${-level}`;
    const span = element(
      "span",
      { class: `token ${kind}`, role: "option", "aria-selected": "false", "data-token": String(this.tokens.length), id: `${this.id}-token-${this.tokens.length}` },
      token.end ? "■" : token.text,
    );
    span.title = tokenNote(token);
    this.tokens.push(token);
    this.text.append(span);
    this.text.scrollTop = this.text.scrollHeight;
  }

  private choose(index: number): void {
    const token = this.tokens[index];
    if (token === undefined) return;
    this.text.querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
    const span = this.text.children[index];
    span?.setAttribute("aria-selected", "true");
    span?.scrollIntoView({ block: "nearest" });
    if (span) this.text.setAttribute("aria-activedescendant", span.id);
    this.chosen = index;
    this.note.textContent = tokenNote(token);
    this.onToken(index);
  }

  private onKey(event: KeyboardEvent): void {
    const last = this.tokens.length - 1;
    const moves: Record<string, number> = { ArrowRight: this.chosen + 1, ArrowLeft: this.chosen - 1, Home: 0, End: last };
    const next = moves[event.key];
    if (next === undefined || last < 0) return;
    event.preventDefault();
    this.choose(Math.max(0, Math.min(last, next)));
  }
}
