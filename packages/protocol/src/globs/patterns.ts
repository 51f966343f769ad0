import { buildAutomaton } from "./glob-automaton.ts";
import { addNode, END, type State, wildcardsIn } from "./glob-program.ts";
import { parseGlob } from "./parse-glob.ts";

/** The states that the automaton of one pattern remembers, because a policy has a hundred of them. */
const MAX_KEPT = 5_000;

/** A glob over the names of objects, in which letters match in their case only. */
export interface Pattern {
  /** Answers whether a name fits, in time linear in its length. */
  readonly fits: (name: string) => boolean;
  /** Returns what each wildcard matches of a name that fits, in the order of the glob's text: each as much as it can, the first one first. */
  readonly partsOf: (name: string) => string[];
}

/** Throws a RangeError with a sentence for what is no glob. */
export function compilePattern(glob: string): Pattern {
  const { node, isNegated } = parseGlob(glob, asItIs);
  const matches = buildAutomaton([node], { fold: asItIs, maxKept: MAX_KEPT });
  const program: State[] = [{ kind: "end" }];
  const start = addNode(program, node, { next: END, before: 0 });
  const wildcards = wildcardsIn(node);
  return {
    fits: (name) => name === glob || matches(name) !== isNegated,
    partsOf: (name) => (wildcards === 0 || isNegated ? [] : readParts(run({ program, start }, name), name, wildcards)),
  };
}

/** Throws a RangeError as {@link compilePattern} does. */
export function checkPattern(glob: string): void {
  parseGlob(glob, asItIs);
}

/** Returns how many wildcards a name's parts can be taken of; what does not fit has none. */
export function countWildcards(glob: string): number {
  const { node, isNegated } = parseGlob(glob, asItIs);
  return isNegated ? 0 : wildcardsIn(node);
}

function asItIs(unit: string): string {
  return unit;
}

/** Where a wildcard begins or ends, and the marks before that. Threads share their beginnings. */
interface Mark {
  readonly wildcard: number;
  readonly isBegin: boolean;
  readonly at: number;
  readonly before: Mark | undefined;
}

interface Thread {
  readonly index: number;
  readonly marks: Mark | undefined;
}

interface Program {
  readonly program: readonly State[];
  readonly start: number;
}

/** Goes all ways at the same time, the preferred one first, so that no name takes more steps than it has units times states. */
function run({ program, start }: Program, name: string): Mark | undefined {
  let threads = spread(program, [{ index: start, marks: undefined }], 0);
  for (let at = 0; at < name.length && threads.length > 0; at++) {
    const moved: Thread[] = [];
    for (const { index, marks } of threads) {
      const state = program[index]!;
      const reads =
        state.kind === "unit" ? state.folded === name[at] : state.kind === "read" && state.accepts(name[at]!);
      if (reads) moved.push({ index: (state as { next: number }).next, marks });
    }
    threads = spread(program, moved, at + 1);
  }
  return threads.find(({ index }) => index === END)?.marks;
}

/** Follows the states that read nothing. If two ways lead to a state, the preferred one counts. */
function spread(program: readonly State[], threads: readonly Thread[], at: number): Thread[] {
  const seen = new Set<number>();
  const reached: Thread[] = [];
  const open = threads.toReversed();
  for (let thread = open.pop(); thread; thread = open.pop()) {
    const { index, marks } = thread;
    if (seen.has(index)) continue;
    seen.add(index);
    const state = program[index]!;
    if (state.kind === "fork") open.push(...state.to.toReversed().map((to) => ({ index: to, marks })));
    else if (state.kind === "mark") {
      const { wildcard, isBegin, next } = state;
      open.push({ index: next, marks: { wildcard, isBegin, at, before: marks } });
    } else reached.push(thread);
  }
  return reached;
}

/** A wildcard in an alternative that was not taken has no text. */
function readParts(last: Mark | undefined, name: string, wildcards: number): string[] {
  const ends = new Map<number, number>();
  const parts = new Map<number, string>();
  for (let mark = last; mark; mark = mark.before) {
    const { wildcard, isBegin, at } = mark;
    if (parts.has(wildcard)) continue;
    if (isBegin) parts.set(wildcard, name.slice(at, ends.get(wildcard)));
    else if (!ends.has(wildcard)) ends.set(wildcard, at);
  }
  return Array.from({ length: wildcards }, (_, wildcard) => parts.get(wildcard) ?? "");
}
