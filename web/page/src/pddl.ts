// The little of PDDL that the page reads by itself: facts as the service writes them, and of a domain which facts its
// actions add and delete. Everything else is the service's to judge; a text that is not understood here reads as empty.

export interface Atom {
  name: string;
  args: string[];
}

// What one action adds and deletes, over its variables, or over objects where a step was watched.
export interface Change {
  added: Atom[];
  deleted: Atom[];
}

export interface DomainShape {
  changes: Change[];
  derived: Set<string>;
}

// "(on cup table)"; null for what is no plain fact.
export function parseFact(text: string): Atom | null {
  const match = /^\(([^()]*)\)$/.exec(text.trim());
  const words = match?.[1]?.split(/\s+/).filter((word) => word !== "") ?? [];
  const name = words[0];
  return name === undefined || name === "=" ? null : { name, args: words.slice(1) };
}

type Tree = string | Tree[];

// Nesting deeper than this is not read.
const maxDepth = 200;

export function readTrees(text: string): Tree[] {
  const root: Tree[] = [];
  const stack: Tree[][] = [root];
  for (const token of text.toLowerCase().match(/;[^\n]*|[()]|[^\s();]+/g) ?? []) {
    if (token.startsWith(";")) continue;
    const top = stack[stack.length - 1];
    if (top === undefined) return [];
    if (token === "(") {
      const list: Tree[] = [];
      top.push(list);
      stack.push(list);
      if (stack.length > maxDepth) return [];
    } else if (token === ")") {
      if (stack.length === 1) return [];
      stack.pop();
    } else {
      top.push(token);
    }
  }
  return stack.length === 1 ? root : [];
}

function atomOf(tree: Tree): Atom | null {
  if (typeof tree === "string") return null;
  const [name, ...args] = tree;
  if (typeof name !== "string") return null;
  return args.every((arg) => typeof arg === "string") ? { name, args } : null;
}

const durations = new Set(["start", "end", "over"]);

function collect(tree: Tree, positive: boolean, change: Change): void {
  if (typeof tree === "string") return;
  const [head, ...rest] = tree;
  if (head === "and") rest.forEach((part) => { collect(part, positive, change); });
  else if (head === "not") rest.forEach((part) => { collect(part, !positive, change); });
  else if (head === "forall" || head === "when") rest.slice(1).forEach((part) => { collect(part, positive, change); });
  else if (head === "at" && typeof rest[0] === "string" && durations.has(rest[0]) && Array.isArray(rest[1])) collect(rest[1], positive, change);
  else {
    const atom = atomOf(tree);
    if (atom) (positive ? change.added : change.deleted).push(atom);
  }
}

export function readDomain(text: string): DomainShape | null {
  const define = readTrees(text)[0];
  if (!Array.isArray(define)) return null;
  const shape: DomainShape = { changes: [], derived: new Set() };
  for (const part of define) {
    if (!Array.isArray(part)) continue;
    if (part[0] === ":action" || part[0] === ":durative-action") {
      const effect = part[part.indexOf(":effect") + 1];
      const change: Change = { added: [], deleted: [] };
      if (part.includes(":effect") && effect !== undefined) collect(effect, true, change);
      shape.changes.push(change);
    }
    if (part[0] === ":derived" && Array.isArray(part[1]) && typeof part[1][0] === "string") shape.derived.add(part[1][0]);
  }
  return shape.changes.length > 0 ? shape : null;
}

// --- words for people ------------------------------------------------------------------------------------------------

export function plain(name: string): string {
  return name.replace(/[_-]+/g, " ");
}

// "(inside orange pot)" -> "orange inside pot", "(switched-on stove)" -> "stove switched on"; anything else as it is.
export function factWords(text: string): string {
  const negated = /^\(not (\(.*\))\)$/.exec(text);
  if (negated?.[1] !== undefined) return `not: ${factWords(negated[1])}`;
  const fact = parseFact(text);
  if (fact === null) return text;
  const [first, ...rest] = fact.args.map(plain);
  if (first === undefined) return plain(fact.name);
  return rest.length === 0 ? `${first} ${plain(fact.name)}` : `${first} ${plain(fact.name)} ${rest.join(", ")}`;
}

// Facts inside a sentence of the service, in words.
export function sentenceWords(text: string): string {
  return text
    .replace(/(\([^()]*\)) could,/g, (_, action: string) => `“${`${actionWords(action).name} ${actionWords(action).rest}`.trim()}” could,`)
    .replace(/precondition \(not (\([^()]*\))\) is false/g, (_, fact: string) => `“${factWords(fact)}” must not hold`)
    .replace(/precondition (\([^()]*\)) is false/g, (_, fact: string) => `it needs “${factWords(fact)}”`)
    .replace(/\(not \([^()]*\)\)|\([^()\s]+( [^()]+)?\)/g, (fact) => (/^\([a-z]/i.test(fact) && !/^\((and|or|forall|exists|at-least|guarantee)/.test(fact) ? `“${factWords(fact)}”` : fact));
}

// "(putin orange pot)" -> ["putin", "orange, pot"]
export function actionWords(action: string): { name: string; rest: string } {
  const fact = parseFact(action);
  if (fact === null) return { name: action, rest: "" };
  return { name: plain(fact.name), rest: fact.args.map(plain).join(", ") };
}
