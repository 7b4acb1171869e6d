// The editor for a task's texts: line numbers, PDDL's colours, mistakes in place. A chunk of its own that is loaded when
// somebody edits. It lives in a shadow root: there CodeMirror's styles are adopted sheets, which the page's content
// security policy lets through, and not style elements, which it does not.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentUnit, StreamLanguage, syntaxHighlighting, type StringStream } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic as Mark } from "@codemirror/lint";
import { EditorState, Prec } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Diagnostic } from "./protocol.js";

const words = new Set(["and", "or", "not", "forall", "exists", "when", "imply", "either", "increase", "decrease", "assign", "scale-up", "scale-down", "define", "domain", "problem", "minimize", "maximize"]);

interface Reading {
  head: boolean; // behind an opening bracket
}

const pddl = StreamLanguage.define<Reading>({
  startState: () => ({ head: false }),
  token(stream: StringStream, state: Reading): string | null {
    if (stream.eatSpace()) return null;
    const { head } = state;
    state.head = false;
    const next = stream.next();
    if (next === ";") {
      stream.skipToEnd();
      return "comment";
    }
    if (next === "(") {
      state.head = true;
      return "bracket";
    }
    if (next === ")") return "bracket";
    stream.eatWhile(/[^\s();]/);
    const word = stream.current().toLowerCase();
    if (word.startsWith(":")) return "keyword";
    if (word.startsWith("?")) return "variableName";
    if (/^[\d.]+$/.test(word)) return "number";
    if (words.has(word)) return "operatorKeyword";
    return head ? "propertyName" : "name";
  },
  languageData: { commentTokens: { line: ";" } },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, color: "var(--code-comment)" },
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.operatorKeyword, color: "var(--code-keyword)" },
  { tag: tags.variableName, color: "var(--code-variable)" },
  { tag: tags.propertyName, color: "var(--code-head)" },
  { tag: tags.number, color: "var(--code-variable)" },
]);

const look = EditorView.theme({
  "&": { backgroundColor: "var(--field)", color: "var(--text)", fontSize: "13px", height: "100%" },
  ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--text)" },
  ".cm-scroller": { overflow: "auto", lineHeight: "1.5" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--soft)", border: "none", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--active-line)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { backgroundColor: "var(--selection)" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-diagnostic": { whiteSpace: "pre-wrap", maxWidth: "34rem" },
  ".cm-matchingBracket": { backgroundColor: "var(--active-line)", outline: "1px solid var(--line)" },
});

export class Editor {
  private readonly view: EditorView;

  constructor(host: HTMLElement, label: string, text: string, onChange: (text: string) => void, onRun: () => void) {
    const root = host.attachShadow({ mode: "open" });
    this.view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          // Ctrl+Enter plans, here as everywhere.
          Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => { onRun(); return true; } }])),
          lineNumbers(), highlightActiveLineGutter(), highlightActiveLine(), history(), drawSelection(), bracketMatching(), lintGutter(), EditorView.lineWrapping,
          indentUnit.of("  "), pddl, syntaxHighlighting(colours), look,
          // Tab leaves the editor, as it leaves every field.
          keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
          EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", spellcheck: "false", autocapitalize: "off", autocorrect: "off" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
  }

  get text(): string {
    return this.view.state.doc.toString();
  }

  set text(text: string) {
    if (text !== this.text) this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
  }

  // Mistakes are underlined where they are, from their place to the end of the word.
  mark(mistakes: Diagnostic[]): void {
    const { doc } = this.view.state;
    const marks = mistakes.map((one): Mark => {
      const line = doc.line(Math.max(1, Math.min(doc.lines, one.line)));
      const from = Math.min(line.to, line.from + Math.max(0, one.column - 1));
      const length = /^\(?[^\s()]+|^./.exec(doc.sliceString(from, line.to))?.[0].length ?? 0;
      return { from, to: Math.min(doc.length, from + length), severity: one.severity, message: one.hint === "" ? one.message : `${one.message}\n${one.hint}` };
    });
    this.view.dispatch(setDiagnostics(this.view.state, marks));
  }

  // Puts the cursor at a mistake and shows it.
  goTo(lineNumber: number, column: number): void {
    const { doc } = this.view.state;
    const line = doc.line(Math.max(1, Math.min(doc.lines, lineNumber)));
    const at = Math.min(line.to, line.from + Math.max(0, column - 1));
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    this.view.focus();
  }
}
