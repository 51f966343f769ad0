import { randomBytes } from "node:crypto";
import type { EdgeItem, EdgeRecordingItem } from "@downlink/protocol";
import { recordingItem, sha256 } from "../../testing/test-agent.ts";

/** Something that happens to the files on a device, or a request for one. `pick` chooses the file. */
export interface Happening {
  readonly kind:
    | "add"
    | "addIncomplete"
    | "finish"
    | "rename"
    | "replace"
    | "remove"
    | "request"
    | "loseState"
    | "swapCard";
  readonly pick: number;
}

/** The contents of a report. */
interface Reported {
  readonly upserts: EdgeItem[];
  readonly removals: string[];
}

interface ModelFile {
  item: EdgeItem;
  /** Only a file that is a recording has a key. */
  readonly key: string;
}

interface ModelRecording {
  importStatus: "none" | "pending" | "failed";
  path: string;
  /** The version of the file that was requested. */
  requested?: string;
}

/** A model of what the cloud must know of one agent's files, as simple as possible: it knows nothing of repeats, order or batches. */
export class CardModel {
  readonly prefix: string;
  #files: ModelFile[] = [];
  #made = 0;
  readonly #recordings = new Map<string, ModelRecording>();
  readonly #created: string[] = [];
  readonly #deleted: string[] = [];

  /** The model begins with two recordings and a file that has no end yet. */
  constructor(prefix: string) {
    this.prefix = prefix;
    for (const isIncomplete of [false, true, false]) this.#add(isIncomplete);
  }

  /** Returns the files as the agent names them in a listing. */
  get items(): EdgeItem[] {
    return this.#files.map(({ item }) => item);
  }

  /** Returns the rows that the cloud must have, sorted by their first column, as all lists here are. */
  get files(): object[] {
    const files = this.#files.map(({ item: { versionId, path, state }, key }) => ({
      versionId,
      path,
      state,
      key: this.#recordings.has(key) ? key : null,
    }));
    return files.sort((a, b) => (a.versionId < b.versionId ? -1 : 1));
  }

  get recordings(): object[] {
    const sorted = [...this.#recordings].sort(([a], [b]) => (a < b ? -1 : 1));
    return sorted.map(([key, { requested, ...recording }]) => ({
      key,
      ...recording,
      failureCode: recording.importStatus === "failed" ? "EdgeCopyGone" : null,
      topics: topicsOf(key).length,
      attachments: attachmentsOf(key).length,
      requests: requested ? [[recording.importStatus === "failed" ? "error" : "awaiting", requested]] : null,
    }));
  }

  /** Returns the keys of all recordings that ever existed. */
  get created(): string[] {
    return this.#created.toSorted();
  }

  get deleted(): string[] {
    return this.#deleted.toSorted();
  }

  /** Returns the key of a recording whose file is present and which was not requested yet. */
  requestable(pick: number): string | undefined {
    return pickFrom(
      this.#files.map(({ key }) => key).filter((key) => this.#recordings.get(key)?.importStatus === "none"),
      pick,
    );
  }

  request(key: string): void {
    const { versionId } = this.#files.find((file) => file.key === key)!.item;
    Object.assign(this.#recordings.get(key)!, { importStatus: "pending", requested: versionId });
  }

  /** Returns what the agent reports of it; undefined if it has to list all its files. */
  happen({ kind, pick }: Happening): Reported | undefined {
    if (kind === "loseState") return this.#loseState();
    if (kind === "swapCard") return this.#swapCard();
    if (kind === "finish") return this.#finish(pick);
    if (kind === "rename") return this.#rename(pick);
    if (kind === "replace") return this.#replace(pick);
    if (kind === "remove") return this.#removeOne(pick);
    return this.#add(kind === "addIncomplete");
  }

  #add(isIncomplete: boolean): Reported {
    const key = this.#newKey();
    const finished = indexed(key, { path: `${key}.mcap` });
    const file = { key, item: isIncomplete ? incomplete(finished) : finished };
    this.#files.push(file);
    return this.#report(file);
  }

  #finish(pick: number): Reported {
    const unfinished = this.#files.filter(({ item }) => item.state === "incomplete");
    const file = pickFrom(unfinished, pick);
    if (!file) return nothing;
    file.item = indexed(file.key, { path: file.item.path, versionId: file.item.versionId });
    return this.#report(file);
  }

  #rename(pick: number): Reported {
    const file = pickFrom(this.#files, pick);
    if (!file) return nothing;
    file.item = { ...file.item, path: `moved/${file.item.path}` };
    return this.#report(file);
  }

  /** Writes other bytes at the same path: they are another version and another recording. */
  #replace(pick: number): Reported {
    const old = pickFrom(this.#files, pick);
    if (!old) return nothing;
    const { removals } = this.#remove([old]);
    const key = this.#newKey();
    const file = { key, item: indexed(key, { path: old.item.path }) };
    this.#files.push(file);
    return { ...this.#report(file), removals };
  }

  #removeOne(pick: number): Reported {
    const file = pickFrom(this.#files, pick);
    return file ? this.#remove([file]) : nothing;
  }

  /** The files stay the same, but the agent no longer knows the ids that it gave them. */
  #loseState(): undefined {
    for (const file of this.#files) {
      file.item = { ...file.item, versionId: newVersionId() };
      const recording = this.#recordings.get(file.key);
      if (recording?.requested) recording.requested = file.item.versionId;
    }
  }

  #swapCard(): undefined {
    this.#remove(this.#files);
    this.#add(false);
  }

  #newKey(): string {
    return `${this.prefix}-${this.#made++}`;
  }

  #report({ item, key }: ModelFile): Reported {
    const known = this.#recordings.get(key);
    if (known) known.path = item.path;
    else if (item.state === "indexed") {
      this.#recordings.set(key, { importStatus: "none", path: item.path });
      this.#created.push(key);
    }
    return { upserts: [item], removals: [] };
  }

  #remove(files: readonly ModelFile[]): Reported {
    this.#files = this.#files.filter((file) => !files.includes(file));
    for (const { key } of files) {
      const recording = this.#recordings.get(key);
      if (recording?.importStatus === "none" && this.#recordings.delete(key)) this.#deleted.push(key);
      if (recording?.importStatus === "pending") recording.importStatus = "failed";
    }
    return { upserts: [], removals: files.map(({ item }) => item.versionId) };
  }
}

export const nothing: Reported = { upserts: [], removals: [] };

function pickFrom<T>(all: readonly T[], pick: number): T | undefined {
  return all[pick % all.length];
}

function newVersionId(): string {
  return randomBytes(12).toString("hex");
}

function indexed(key: string, more: Partial<EdgeRecordingItem>): EdgeRecordingItem {
  return recordingItem({ ...more, key, topics: topicsOf(key), attachments: attachmentsOf(key) });
}

function incomplete({ versionId, path, size, modifiedAt, headTailSha256 }: EdgeRecordingItem): EdgeItem {
  return { versionId, path, size, modifiedAt, headTailSha256, state: "incomplete" };
}

function topicsOf(key: string) {
  return Array.from({ length: numberOf(key) % 3 }, (_, number) => ({
    topic: `/topic-${number}`,
    version: "v1",
    encoding: "cdr",
    schemaName: "Any",
    schemaEncoding: "ros2msg",
    schemaSha256: sha256(""),
    messageCount: 1,
  }));
}

function attachmentsOf(key: string) {
  const one = { name: key, mediaType: "", logTime: 1n, createTime: 1n, crc: 0, dataOffset: 8, size: 1 };
  return numberOf(key) % 2 === 0 ? [one] : [];
}

function numberOf(key: string): number {
  return Number(key.split("-").at(-1));
}
