import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { type FileState, nextState, reportedState } from "./file-state.ts";
import { loadInventory, prepareStatements, type Statements, writeFindings } from "./inventory-rows.ts";
import type { Findings, GoneBecause, InventoryStep, Removal, Schema, TrackedFile } from "./tracked-file.ts";

/**
 * All files that are there, in memory, as the database has them. Every change is durable before it can be seen here: a
 * crash at any instant leaves the one or the other.
 */
export interface Inventory {
  readonly size: number;
  files(): IterableIterator<TrackedFile>;
  at(path: string): TrackedFile | undefined;
  version(versionId: string): TrackedFile | undefined;
  /** Versions that are gone, until the cloud has acknowledged it. */
  removals(): ReadonlyMap<string, Removal>;
  /** Version ids whose report is due, oldest first. */
  due(): ReadonlySet<string>;
  countByState(): Partial<Record<FileState, number>>;
  /** What was found when the version was indexed. */
  findings(versionId: string): Findings | undefined;
  schema(sha256: string): Uint8Array | undefined;
  /** Applies all steps or none. A step about a version that is gone, or to a path that is taken, has no effect. */
  change(steps: readonly InventoryStep[]): void;
}

export function openInventory(database: DatabaseSync, onWritten: () => void = () => {}): Inventory {
  const statements = prepareStatements(database);
  const memory = indexFiles(loadInventory(database));
  return {
    get size() {
      return memory.byPath.size;
    },
    files: () => memory.byPath.values(),
    at: (path) => memory.byPath.get(path),
    version: (versionId) => memory.byVersion.get(versionId),
    removals: () => memory.removals,
    due: () => memory.due,
    countByState: () => countByState(memory.byPath.values()),
    findings: (versionId) => statements.findings(versionId),
    schema: (sha256) => statements.schema(sha256),
    change(steps) {
      if (steps.length === 0) return;
      const journal = new Journal(memory, statements);
      database.exec("BEGIN IMMEDIATE");
      try {
        for (const step of steps) journal.apply(step);
        database.exec("COMMIT");
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
      journal.publish();
      onWritten();
    },
  };
}

interface Memory {
  readonly byPath: Map<string, TrackedFile>;
  readonly byVersion: Map<string, TrackedFile>;
  readonly due: Set<string>;
  readonly removals: Map<string, Removal>;
}

function indexFiles({ files, removals }: ReturnType<typeof loadInventory>): Memory {
  return {
    byPath: new Map(files.map((file) => [file.path, file])),
    byVersion: new Map(files.map((file) => [file.versionId, file])),
    due: new Set(files.filter((file) => file.needsReport).map((file) => file.versionId)),
    removals: new Map(removals),
  };
}

function countByState(files: Iterable<TrackedFile>): Partial<Record<FileState, number>> {
  const counts: Partial<Record<FileState, number>> = {};
  for (const { state } of files) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/** One change in the making: written to the open transaction step by step, shown in memory after its commit. */
class Journal {
  readonly #memory: Memory;
  readonly #statements: Statements;
  readonly #touched = new Map<string, TrackedFile | undefined>();
  readonly #publications: (() => void)[] = [];

  constructor(memory: Memory, statements: Statements) {
    this.#memory = memory;
    this.#statements = statements;
  }

  apply(step: InventoryStep): void {
    if (step.do === "track") this.#track(step);
    else if (step.do === "forgetRemoval") this.#forgetRemoval(step.versionId);
    else this.#applyTo(this.#find(step.versionId), step);
  }

  #applyTo(file: TrackedFile | undefined, step: Exclude<InventoryStep, { do: "track" | "forgetRemoval" }>): void {
    if (!file) return;
    if (step.do === "move") this.#update(file, asDue({ ...file, path: step.path, identity: step.identity }));
    if (step.do === "confirm") this.#confirm(file, step);
    if (step.do === "event") this.#event(file, step);
  }

  publish(): void {
    for (const publish of this.#publications) publish();
  }

  #find(versionId: string): TrackedFile | undefined {
    return this.#touched.has(versionId) ? this.#touched.get(versionId) : this.#memory.byVersion.get(versionId);
  }

  #track({ path, identity }: Extract<InventoryStep, { do: "track" }>): void {
    const versionId = randomBytes(16).toString("base64url");
    const file = {
      versionId,
      path,
      identity,
      state: "seen",
      reportedAs: undefined,
      needsReport: false,
      revision: 0,
    } as const;
    if (this.#statements.insertFile(file)) this.#show(undefined, file);
  }

  #confirm(file: TrackedFile, { as, revision }: Extract<InventoryStep, { do: "confirm" }>): void {
    const isNewest = revision === file.revision;
    const state = isNewest ? nextState(file.state, "acknowledged") : file.state;
    this.#update(file, { ...file, state, reportedAs: as, needsReport: file.needsReport && !isNewest });
  }

  #event(file: TrackedFile, step: Extract<InventoryStep, { do: "event" }>): void {
    if (step.was && step.was !== file.identity) return;
    const state = nextState(file.state, step.event);
    if (state === "gone") {
      this.#remove(file, step.event === "changed" ? "changed" : "vanished");
      return;
    }
    const next = { ...file, state, identity: step.identity ?? file.identity };
    if (state === file.state && next.identity === file.identity && !step.findings) return;
    this.#update(file, reportedState(state) === reportedState(file.state) ? next : asDue(next));
    if (step.findings) writeFindings(this.#statements, { versionId: file.versionId, findings: step.findings });
    for (const schema of step.schemas ?? []) this.#statements.insertSchema(schema as Schema);
  }

  #remove(file: TrackedFile, because: GoneBecause): void {
    // Also when no report was acknowledged: one may have arrived whose answer was lost.
    const removal = reportedState(file.state) && { reportedAs: file.reportedAs, because };
    this.#statements.deleteFile(file.versionId);
    if (removal) this.#statements.insertRemoval(file.versionId, removal);
    this.#show(file, undefined);
    if (removal) this.#publications.push(() => this.#memory.removals.set(file.versionId, removal));
  }

  #forgetRemoval(versionId: string): void {
    this.#statements.deleteRemoval(versionId);
    this.#publications.push(() => this.#memory.removals.delete(versionId));
  }

  #update(before: TrackedFile, after: TrackedFile): void {
    if (this.#statements.updateFile(after)) this.#show(before, after);
  }

  #show(before: TrackedFile | undefined, after: TrackedFile | undefined): void {
    const { byPath, byVersion, due } = this.#memory;
    const { versionId } = (after ?? before) as TrackedFile;
    this.#touched.set(versionId, after);
    this.#publications.push(() => {
      if (before && byPath.get(before.path)?.versionId === versionId) byPath.delete(before.path);
      if (after) byPath.set(after.path, after);
      if (after) byVersion.set(versionId, after);
      else byVersion.delete(versionId);
      if (after?.needsReport) due.add(versionId);
      else due.delete(versionId);
    });
  }
}

function asDue(file: TrackedFile): TrackedFile {
  if (reportedState(file.state) === undefined) return file;
  return { ...file, needsReport: true, revision: file.revision + 1 };
}
