import type { DatabaseSync } from "node:sqlite";
import { durableWrites } from "../durable/durable-steps.ts";
import { type CardSwap, swapCardRows } from "./card-rows.ts";
import { prepareDeletionStatements } from "./deletion-rows.ts";
import type { FileState } from "./file-state.ts";
import { type FileIdentity, isSameContentHolder, isSameIdentity } from "./identity.ts";
import { loadInventory, prepareStatements } from "./inventory-rows.ts";
import { Journal } from "./journal.ts";
import { countByState, indexFiles, swapInMemory } from "./memory.ts";
import { prepareOutcomeStatements } from "./outcome-rows.ts";
import type {
  DeletionIntent,
  Findings,
  ImportOutcome,
  InventoryStep,
  PastDeletion,
  Removal,
  TrackedFile,
} from "./tracked-file.ts";

/**
 * All files that are there or on a card that is out, in memory, as the database has them. Every change is durable before it can be seen here: a
 * crash at any instant leaves the one or the other.
 */
export interface Inventory {
  readonly size: number;
  /** Also those that are away. */
  files(): IteratorObject<TrackedFile>;
  /** What is here; nothing that is away. */
  at(path: string): TrackedFile | undefined;
  version(versionId: string): TrackedFile | undefined;
  /** Whether a file is known as just that. Then, and where only ctime differs, the scan of that number has found it. */
  noteFound(path: string, identity: FileIdentity, scan: number): boolean;
  /** Versions that are gone, until the cloud has acknowledged it. */
  removals(): ReadonlyMap<string, Removal>;
  /** Version ids whose report is due, oldest first. */
  due(): ReadonlySet<string>;
  countByState(): Partial<Record<FileState, number>>;
  /** What was found when the version was indexed. */
  findings(versionId: string): Findings | undefined;
  schema(sha256: string): Uint8Array | undefined;
  /** SHA-256 of all bytes as the file is now; undefined while it is not known, and where a change since would not show. */
  hash(file: TrackedFile): string | undefined;
  /** SHA-256 of the version's content, also where the file was touched since; undefined while it is not known. */
  contentHash(versionId: string): string | undefined;
  /** Of its last import, while that holds. */
  outcome(versionId: string): ImportOutcome | undefined;
  /** Versions of which somebody on the device wants the import, and the cloud has not heard of it. */
  localRequests(): string[];
  /** Deletions that are not over, of files that are here. */
  intents(): DeletionIntent[];
  /** Latest first, as far as they are kept. */
  lastDeleted(limit: number): PastDeletion[];
  /** Applies all steps or none. A step about a version that is gone, or to a path that is taken, has no effect. */
  change(steps: readonly InventoryStep[]): void;
  /** Whether there is anything here, and whether anything of a card is away. */
  hasFilesHere(): boolean;
  isAway(card: string): boolean;
  /** The files of the one card are away from now on; those of the other are here again, as what they were. */
  swapCards(swap: CardSwap): void;
}

export function openInventory(database: DatabaseSync, onWritten: () => void = () => {}): Inventory {
  const statements = {
    ...prepareStatements(database),
    ...prepareDeletionStatements(database),
    ...prepareOutcomeStatements(database),
  };
  const memory = indexFiles(loadInventory(database));
  return {
    get size() {
      return memory.byVersion.size;
    },
    files: () => memory.byVersion.values(),
    at: (path) => memory.byPath.get(path),
    version: (versionId) => memory.byVersion.get(versionId),
    noteFound(path, identity, scan) {
      const file = memory.byPath.get(path);
      if (!file || !isSameContentHolder(file.identity, identity)) return false;
      file.foundIn = scan;
      return isSameIdentity(file.identity, identity);
    },
    removals: () => memory.removals,
    due: () => memory.due,
    countByState: () => countByState(memory.byVersion.values()),
    findings: (versionId) => statements.findings(versionId),
    schema: (sha256) => statements.schema(sha256),
    hash: (file) => statements.hash(file),
    contentHash: (versionId) => statements.contentHash(versionId),
    outcome: (versionId) => statements.outcome(versionId),
    localRequests: () => statements.localRequests(),
    intents: () => statements.intents(),
    lastDeleted: (limit) => statements.lastDeleted(limit),
    change(steps) {
      if (steps.length === 0) return;
      const journal = new Journal(memory, statements);
      database.exec("BEGIN IMMEDIATE");
      try {
        for (const step of steps) journal.apply(step);
        durableWrites.traceSync(() => database.exec("COMMIT"), { what: "inventory", steps });
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
      journal.publish();
      onWritten();
    },
    hasFilesHere: () => memory.byPath.size > 0,
    isAway: (card) => memory.cardsOut.has(card),
    swapCards(swap) {
      database.exec("BEGIN IMMEDIATE");
      try {
        swapCardRows(database, swap);
        durableWrites.traceSync(() => database.exec("COMMIT"), { what: "fact", name: "rootMarkerId" });
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
      swapInMemory(memory, swap);
      onWritten();
    },
  };
}
