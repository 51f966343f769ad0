import { isStruct, partOf, type Value } from "@downlink/messages/value";
import { describePath, type FieldPath } from "./fields.ts";
import { previewLimits } from "./limits.ts";

/** The states of one part of a robot over time. */
export interface StateLane {
  readonly name: string;
  readonly runs: readonly StateRun[];
  /** The worst level of its runs; undefined where it has no levels. */
  readonly worst?: number;
}

/** A time in which a state stayed the same. It lasts until the next one. */
export interface StateRun {
  readonly startNs: number;
  readonly text: string;
  /** A place in `DIAGNOSTIC_LEVELS`. */
  readonly level?: number;
}

/** source: diagnostic_msgs/DiagnosticStatus */
export const DIAGNOSTIC_LEVELS = ["OK", "WARN", "ERROR", "STALE"] as const;

const MOST_CHARACTERS = 200;
const MOST_FIELDS = 8;

interface Collected {
  readonly lanes: readonly StateLane[];
  /** Changes that are not among the runs, because there are too many. */
  readonly leftOut: number;
}

/** Collects the states in messages, which are added in order of time: those of a DiagnosticArray, or else texts and truths. */
export function collectStates() {
  const lanes = new Map<string, StateRun[]>();
  let leftOut = 0;
  const note = (name: string, run: StateRun) => {
    const runs = lanes.get(name) ?? [];
    const last = runs.at(-1);
    if (last?.text === run.text && last.level === run.level) return;
    if (runs.length >= previewLimits.stateRuns || (runs.length === 0 && lanes.size >= previewLimits.stateLanes)) {
      leftOut += 1;
      return;
    }
    runs.push(run);
    lanes.set(name, runs);
  };
  return {
    add(message: Value, startNs: number): void {
      const statuses = partOf(message, "status");
      if (Array.isArray(statuses))
        for (const status of statuses) note(textOf(partOf(status, "name")), runOf(status, startNs));
      else for (const [path, text] of textsIn(message)) note(describePath(path), { startNs, text });
    },
    finish(): Collected {
      const all = [...lanes].map(([name, runs]) => ({ name, runs, ...worstOf(runs) }));
      return { lanes: all.sort((a, b) => rankOf(b.worst ?? 0) - rankOf(a.worst ?? 0)), leftOut };
    },
  };
}

function runOf(status: Value, startNs: number): StateRun {
  const level = Number(partOf(status, "level") as number);
  return { startNs, text: textOf(partOf(status, "message")), level: level in DIAGNOSTIC_LEVELS ? level : 0 };
}

function worstOf(runs: readonly StateRun[]): { worst?: number } {
  const levels = runs.flatMap(({ level }) => (level === undefined ? [] : [level]));
  return levels.length === 0 ? {} : { worst: levels.reduce((a, b) => (rankOf(b) > rankOf(a) ? b : a)) };
}

/** A part that is not heard of is less bad than one that reports an error. */
function rankOf(level: number): number {
  return level === 3 ? 1.5 : level;
}

/** The texts and truths of a message, beside its header. */
function textsIn(message: Value, path: FieldPath = []): [FieldPath, string][] {
  if (typeof message === "string" || typeof message === "boolean") return [[path, textOf(message)]];
  if (!isStruct(message) || path.length > 3) return [];
  const found: [FieldPath, string][] = [];
  for (const name in message) {
    if (found.length >= MOST_FIELDS) break;
    if (name !== "header") found.push(...textsIn(message[name]!, [...path, name]));
  }
  return found.slice(0, MOST_FIELDS);
}

function textOf(value: Value | undefined): string {
  const text = typeof value === "string" || typeof value === "boolean" ? String(value) : "";
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
