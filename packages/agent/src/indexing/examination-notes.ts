import { randomUUID } from "node:crypto";
import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import type { Suspects } from "../state/known-facts.ts";
import { isStateUnwritable } from "../state/state-errors.ts";
import type { StateFacts } from "../state/state-facts.ts";
import { readBootId } from "../system/boot-id.ts";
import type { Clock } from "../system/clock.ts";
import { blame, type Note, type Standing, standingOf } from "./suspects.ts";

/** What is done with a file's content that might end the process. */
export type Examination = "index" | "salvage";

/**
 * Which files are being examined, noted where the next process finds it should this one die of one of them: of a file that
 * takes more memory than there is, or never comes to an end. Nothing is waited for on the disk: a process that dies leaves what it has written.
 */
export interface ExaminationNotes extends Disposable {
  standingOf(file: TrackedFile, examination: Examination): Standing;
  /** Notes the file until disposed. */
  begin(file: TrackedFile, examination: Examination): Disposable;
  /** The examination came to its end, whatever that was. */
  acquit(file: TrackedFile, examination: Examination): void;
  /** The agent is to stop: from here on no file is at fault for its end. */
  close(): void;
}

export function openExaminationNotes(
  stateDir: string,
  { facts, clock, bootId = readBootId() }: { facts: StateFacts; clock: Clock; bootId?: string | undefined },
): ExaminationNotes {
  const path = join(stateDir, "agent.examining");
  const openedMs = clock.monotonicMs();
  const now = () => ({
    nowNs: clock.nowNs(),
    uptimeMs: clock.uptimeMs(),
    runningMs: clock.monotonicMs() - openedMs,
    bootId,
  });
  let suspects = facts.suspects();
  const keep = (next: Suspects): void => {
    suspects = next;
    try {
      facts.noteSuspects(next);
    } catch (error) {
      if (!isStateUnwritable(error)) throw error; // Known to this process; the next will find out again.
    }
  };
  const left = readNote(path);
  if (left && left.keys.length > 0 && left.id !== suspects.lastNoteId) keep(blame(suspects, left, now()));
  const note = openNote(path, { id: randomUUID(), bootId });
  return {
    standingOf: (file, examination) => standingOf(suspects.byKey[keyOf(file, examination)], now()),
    begin(file, examination) {
      const key = keyOf(file, examination);
      note.add(key);
      return { [Symbol.dispose]: () => note.remove(key) };
    },
    acquit(file, examination) {
      const { [keyOf(file, examination)]: known, ...byKey } = suspects.byKey;
      if (known) keep({ ...suspects, byKey });
    },
    close: note.close,
    [Symbol.dispose]: note.close,
  };
}

/** Of a file as it is: when its content changes it is another. */
function keyOf({ versionId, identity }: TrackedFile, examination: Examination): string {
  return `${examination} ${versionId} ${identity.sizeBytes} ${identity.mtimeNs}`;
}

/** One that makes no sense, as after a power cut, counts as none. */
function readNote(path: string): Note | undefined {
  try {
    const [line = ""] = readFileSync(path, "utf8").split("\n");
    const note = JSON.parse(line) as Partial<Note> | null;
    return typeof note?.id === "string" && Array.isArray(note.keys) ? (note as Note) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Written over in place and never made shorter: a disk that gets full later has room for it. */
function openNote(path: string, about: Omit<Note, "keys">) {
  let file = openToWrite(path);
  const keys = new Set<string>();
  const write = (): void => {
    if (file === undefined) return;
    const line = `${JSON.stringify({ ...about, keys: [...keys] })}\n`;
    try {
      writeSync(file, line.padEnd(NOTE_BYTES), 0);
    } catch (error) {
      if (!isStateUnwritable(error)) throw error; // A file that ends this process is then found out later.
    }
  };
  write();
  return {
    add(key: string) {
      keys.add(key);
      write();
    },
    remove(key: string) {
      keys.delete(key);
      write();
    },
    close() {
      keys.clear();
      write();
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

/** Undefined where the state directory cannot be written: the agent works without. */
function openToWrite(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDWR | constants.O_CREAT, 0o640);
  } catch (error) {
    if (isStateUnwritable(error)) return undefined;
    throw error;
  }
}

const NOTE_BYTES = 2048;
