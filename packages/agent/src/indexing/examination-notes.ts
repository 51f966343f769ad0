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

/** Work on a file's content that may end the process. */
export type Examination = "index" | "salvage" | "cut";

/**
 * Notes which files are being examined, so that the next process knows should this one die of one of them: of a file that takes
 * more memory than there is, or whose examination never ends. No write waits for the disk, because a process that dies leaves
 * what it has written.
 */
export interface ExaminationNotes extends Disposable {
  standingOf(file: TrackedFile, examination: Examination): Standing;
  /** Notes the file until disposed. */
  begin(file: TrackedFile, examination: Examination): Disposable;
  /** The examination ended, with whatever result. */
  acquit(file: TrackedFile, examination: Examination): void;
  /** The agent is about to stop: from here on no file is at fault when the process ends. */
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
      if (!isStateUnwritable(error)) throw error; // This process knows it; the next one will find out again.
    }
  };
  const left = readNote(path);
  if (left && left.keys.length > 0 && left.id !== suspects.lastNoteId) keep(blame(suspects, left, now()));
  const note = openNote(path, { id: randomUUID(), bootId });
  return {
    standingOf: (file, examination) =>
      standingOf(suspects.byKey[keyOf(file, examination)], now(), examination === "cut" ? "long" : "short"),
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

/** Returns the key of a file as it is: a file with another content has another key. */
function keyOf({ versionId, identity }: TrackedFile, examination: Examination): string {
  return `${examination} ${versionId} ${identity.sizeBytes} ${identity.mtimeNs}`;
}

/** A note that a power cut left as rubbish counts as none. */
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

/** The note is overwritten in place and never made shorter, so that it fits on a disk that gets full later. */
function openNote(path: string, about: Omit<Note, "keys">) {
  let file = openToWrite(path);
  const keys = new Set<string>();
  const write = (): void => {
    if (file === undefined) return;
    const line = `${JSON.stringify({ ...about, keys: [...keys] })}\n`;
    try {
      writeSync(file, line.padEnd(NOTE_BYTES), 0);
    } catch (error) {
      if (!isStateUnwritable(error)) throw error; // A file that ends this process is found out later then.
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

/** Opens the notes. Undefined where the state directory cannot be written: the agent works without notes. */
function openToWrite(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDWR | constants.O_CREAT, 0o640);
  } catch (error) {
    if (isStateUnwritable(error)) return undefined;
    throw error;
  }
}

const NOTE_BYTES = 2048;
