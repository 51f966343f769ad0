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

/** What is asked for of each of 100,000 files at every scan, and must cost no query. */
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

/** What is asked for of single files, and would take too much memory for all of them. */
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
