import { addNode, END, type State } from "./glob-program.ts";
import type { Fold, GlobNode } from "./parse-glob.ts";

/** Answers whether a text fits one of some nodes, in time linear in its length. It remembers states of earlier texts, within bounds. */
export type Automaton = (text: string) => boolean;

/**
 * The nodes become states that read one code unit each. A text is read once: the automaton is in all states that are possible at the same
 * time. Such a set is made once, and found again by the next text that leads to it. `maxKept` bounds how many states all sets together may
 * name before the sets are dropped and made again.
 */
export function buildAutomaton(nodes: readonly GlobNode[], { fold, maxKept }: AutomatonOptions): Automaton {
  const program: State[] = [{ kind: "end" }];
  const starts = nodes.map((node) => addNode(program, node, { next: END, before: 0 }));
  const close = createClosing(program);
  let memory = openMemory(close(starts));
  const step = (place: Place, code: number): Place => {
    const states = close(follow(program, place.states, fold(String.fromCharCode(code))));
    if (states.length > MAX_KEPT_STATES) return makePlace(states);
    if (memory.kept > maxKept) memory = openMemory(memory.start.states);
    const reached = recall(memory, states);
    place.next.set(code, reached);
    memory.kept += 1;
    return reached;
  };
  return (text) => {
    let place = memory.start;
    for (let at = 0; at < text.length && place.states.length > 0; at++) {
      const code = text.charCodeAt(at);
      place = place.next.get(code) ?? step(place, code);
    }
    return place.isEnd;
  };
}

/** A larger set is not kept: it is made again each time, in one step for each of its states. */
const MAX_KEPT_STATES = 200;

interface AutomatonOptions {
  readonly fold: Fold;
  readonly maxKept: number;
}

interface Memory {
  readonly start: Place;
  readonly places: Map<string, Place>;
  /** The number of states that the places name, and of ways between places. */
  kept: number;
}

function openMemory(starts: readonly number[]): Memory {
  const start = makePlace(starts);
  return { start, places: new Map([[starts.join(), start]]), kept: starts.length };
}

function recall(memory: Memory, states: number[]): Place {
  const key = states.sort((a, b) => a - b).join();
  const known = memory.places.get(key);
  if (known) return known;
  const place = makePlace(states);
  memory.places.set(key, place);
  memory.kept += states.length + 1;
  return place;
}

function makePlace(states: readonly number[]): Place {
  return { states, isEnd: states.includes(END), next: new Map() };
}

/** All states that are possible after the same beginning of a text. */
interface Place {
  readonly states: readonly number[];
  readonly isEnd: boolean;
  readonly next: Map<number, Place>;
}

function follow(program: readonly State[], states: readonly number[], folded: string): number[] {
  const reached: number[] = [];
  for (const index of states) {
    const state = program[index]!;
    if (state.kind === "unit" && state.folded === folded) reached.push(state.next);
    else if (state.kind === "read" && state.accepts(folded)) reached.push(state.next);
  }
  return reached;
}

/** Adds to some states those that are reached from them without reading, and leaves out those that read nothing. */
function createClosing(program: readonly State[]): (states: readonly number[]) => number[] {
  const seenIn = new Float64Array(program.length);
  let round = 0;
  return (states) => {
    round += 1;
    const open = states.slice();
    const closed: number[] = [];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (seenIn[index] === round) continue;
      seenIn[index] = round;
      const state = program[index]!;
      if (state.kind === "fork") open.push(...state.to);
      else if (state.kind === "mark") open.push(state.next);
      else closed.push(index);
    }
    return closed;
  };
}
