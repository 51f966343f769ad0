import type { DatabaseSync } from "node:sqlite";
import { type DurableWrite, durableWrites } from "../durable/durable-steps.ts";
import { type CardSwap, swapCardRows } from "./card-rows.ts";
import { prepareDeletionStatements } from "./deletion-rows.ts";
import type { FileState } from "./file-state.ts";
import { type FileIdentity, isSameContentHolder, isSameIdentity } from "./identity.ts";
import { loadInventory, prepareStatements } from "./inventory-rows.ts";
import { type AllStatements, Journal } from "./journal.ts";
import { countByState, indexFiles, type Memory, swapInMemory } from "./memory.ts";
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
 * All files that are here or on a card that is out, in memory, as the database has them. Every change is durable before it can
 * be seen here: a crash at any instant leaves the state before it or the state after it.
 */
export interface Inventory {
  readonly size: number;
  /** All files, with those that are away. */
  files(): IteratorObject<TrackedFile>;
  /** The file that is here at a path; one that is away is at none. */
  at(path: string): TrackedFile | undefined;
  version(versionId: string): TrackedFile | undefined;
  /** True where the file is known with this very identity. Then, and where only ctime differs, it counts as found by the scan. */
  noteFound(path: string, identity: FileIdentity, scan: number): boolean;
  /** Versions that are gone, while the cloud has not acknowledged it. */
  removals(): ReadonlyMap<string, Removal>;
  /** Version ids whose report is due, oldest first. */
  due(): ReadonlySet<string>;
  countByState(): Partial<Record<FileState, number>>;
  /** The findings of the time when the version was indexed. */
  findings(versionId: string): Findings | undefined;
  schema(sha256: string): Uint8Array | undefined;
  /** SHA-256 of all bytes as the file is now; undefined while it is not known, and where a change since would not show. */
  hash(file: TrackedFile): string | undefined;
  /** SHA-256 of the version's content, also where the file was touched since; undefined while it is not known. */
  contentHash(versionId: string): string | undefined;
  /** How its last import ended, while that holds. */
  outcome(versionId: string): ImportOutcome | undefined;
  /** Versions whose import users on the device requested, while the cloud has not received that. */
  localRequests(): string[];
  /** Deletions of files that are here and that are not over. */
  intents(): DeletionIntent[];
  /** The latest deletions come first; old ones are not kept. */
  lastDeleted(limit: number): PastDeletion[];
  /** Applies all steps or none. A step about a version that is gone, or to a path that is taken, has no effect. */
  change(steps: readonly InventoryStep[]): void;
  hasFilesHere(): boolean;
  /** Whether files of the card are away. */
  isAway(card: string): boolean;
  /** Marks the files of one card as away, and brings those of the other one back in their former states. */
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
    ...readMemory(memory),
    ...readDatabase(statements),
    get size() {
      return memory.byVersion.size;
    },
    change(steps) {
      if (steps.length === 0) return;
      const journal = new Journal(memory, statements);
      const apply = () => {
        for (const step of steps) journal.apply(step);
      };
      commitChange(database, apply, { what: "inventory", steps });
      journal.publish();
      onWritten();
    },
    swapCards(swap) {
      commitChange(database, () => swapCardRows(database, swap), { what: "fact", name: "rootMarkerId" });
      swapInMemory(memory, swap);
      onWritten();
    },
  };
}

/** Makes a change durable as a whole, or leaves the database as it was. */
function commitChange(database: DatabaseSync, write: () => void, trace: DurableWrite): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    write();
    durableWrites.traceSync(() => database.exec("COMMIT"), trace);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/** Reads what every scan asks about each of 100,000 files, and what therefore must not cost a query. */
function readMemory({ byVersion, byPath, removals, due, cardsOut }: Memory) {
  return {
    files: () => byVersion.values(),
    at: (path) => byPath.get(path),
    version: (versionId) => byVersion.get(versionId),
    noteFound(path, identity, scan) {
      const file = byPath.get(path);
      if (!file || !isSameContentHolder(file.identity, identity)) return false;
      file.foundIn = scan;
      return isSameIdentity(file.identity, identity);
    },
    removals: () => removals,
    due: () => due,
    countByState: () => countByState(byVersion.values()),
    hasFilesHere: () => byPath.size > 0,
    isAway: (card) => cardsOut.has(card),
  } satisfies Partial<Inventory>;
}

/** Reads facts about single files, which would take too much memory for all of them. */
function readDatabase(statements: AllStatements) {
  return {
    findings: (versionId) => statements.findings(versionId),
    schema: (sha256) => statements.schema(sha256),
    hash: (file) => statements.hash(file),
    contentHash: (versionId) => statements.contentHash(versionId),
    outcome: (versionId) => statements.outcome(versionId),
    localRequests: () => statements.localRequests(),
    intents: () => statements.intents(),
    lastDeleted: (limit) => statements.lastDeleted(limit),
  } satisfies Partial<Inventory>;
}
