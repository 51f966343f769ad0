import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { recording } from "../durable/durable-steps.ts";
import { type CardSwap, swapCardRows } from "./card-rows.ts";
import { type DeletionStatements, prepareDeletionStatements } from "./deletion-rows.ts";
import { type FileEvent, type FileState, nextBeneath, nextState, reportedState, stateBeneath } from "./file-state.ts";
import { type FileIdentity, isSameContentHolder, isSameIdentity } from "./identity.ts";
import { loadInventory, prepareStatements, type Statements, writeFindings } from "./inventory-rows.ts";
import { type OutcomeStatements, prepareOutcomeStatements } from "./outcome-rows.ts";
import type {
  DeletionIntent,
  Findings,
  GoneBecause,
  ImportOutcome,
  InventoryStep,
  PastDeletion,
  Removal,
  Schema,
  TrackedFile,
} from "./tracked-file.ts";
import { lifeOf } from "./tracked-file.ts";

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
  wishes(): string[];
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
    wishes: () => statements.wishes(),
    intents: () => statements.intents(),
    lastDeleted: (limit) => statements.lastDeleted(limit),
    change(steps) {
      if (steps.length === 0) return;
      const journal = new Journal(memory, statements);
      database.exec("BEGIN IMMEDIATE");
      try {
        for (const step of steps) journal.apply(step);
        recording.traceSync(() => database.exec("COMMIT"), { what: "inventory", steps });
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
        recording.traceSync(() => database.exec("COMMIT"), { what: "fact", name: "rootMarkerId" });
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
      swapInMemory(memory, swap);
      onWritten();
    },
  };
}

/** A mark on the file itself: of 100,000 files, a set of what was found takes megabytes at each scan. */
type Findable = TrackedFile & { foundIn: number };

interface Memory {
  readonly byPath: Map<string, Findable>;
  readonly byVersion: Map<string, TrackedFile>;
  /** Of which something is away. */
  readonly cardsOut: Set<string>;
  readonly due: Set<string>;
  readonly removals: Map<string, Removal>;
}

function indexFiles({ files, removals }: ReturnType<typeof loadInventory>): Memory {
  const maps = { byPath: new Map(), byVersion: new Map(), removals: new Map(removals) };
  const memory = { ...maps, due: new Set<string>(), cardsOut: new Set<string>() };
  for (const file of files) {
    if (file.away) memory.cardsOut.add(file.away.card);
    else memory.byPath.set(file.path, file);
    memory.byVersion.set(file.versionId, file);
    if (file.needsReport) memory.due.add(file.versionId);
  }
  return memory;
}

function swapInMemory({ byPath, byVersion, cardsOut }: Memory, { out, into, atNs }: CardSwap): void {
  if (byPath.size > 0) cardsOut.add(out);
  byPath.clear();
  for (const [versionId, file] of byVersion) {
    const { away = { card: out, before: stateBeneath(file.state), sinceNs: atNs }, ...rest } = file;
    if (away.card !== into) {
      if (!file.away) byVersion.set(versionId, { ...rest, state: "away", away });
      continue;
    }
    const here = { ...rest, state: away.before };
    byVersion.set(versionId, here);
    byPath.set(here.path, here);
  }
  if (into !== undefined) cardsOut.delete(into);
}

function countByState(files: Iterable<TrackedFile>): Partial<Record<FileState, number>> {
  const counts: Partial<Record<FileState, number>> = {};
  for (const { state } of files) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

type AllStatements = Statements & DeletionStatements & OutcomeStatements;

/** States of an import that ended, or of a file that is on its way out as such: how it ended stays known. */
const keepsOutcome: ReadonlySet<FileState> = new Set(["failed", "duplicate", "deleting"]);

/** One change in the making: written to the open transaction step by step, shown in memory after its commit. */
class Journal {
  readonly #memory: Memory;
  readonly #statements: AllStatements;
  readonly #touched = new Map<string, TrackedFile | undefined>();
  readonly #publications: (() => void)[] = [];

  constructor(memory: Memory, statements: AllStatements) {
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
    if (step.do === "move") this.#move(file, step);
    if (step.do === "confirm") this.#confirm(file, step);
    if (step.do === "retell") this.#update(file, asDue(file));
    if (step.do === "place") this.#place(file, step);
    if (step.do === "event") this.#event(file, step);
    if (step.do === "renew") this.#renew(file, step);
    if (step.do === "noteHash") this.#noteHash(file, step);
    if (step.do === "wish") this.#statements.insertWish(file.versionId);
    if (step.do === "forgetWish") this.#forgetWish(file, step.outcome);
    if (step.do === "intend") this.#intend(file, step);
    if (file.state !== "deleting") return;
    if (step.do === "permit") this.#statements.permitIntent(file.versionId, step.permitId ?? "");
    if (step.do === "keep") this.#keep(file, step);
    if (step.do === "noteDeleted") this.#noteDeleted(file, step.atNs);
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
      endNs: undefined,
      reportedAs: undefined,
      needsReport: false,
      revision: 0,
      foundIn: 0,
    } as const;
    if (this.#statements.insertFile(file)) this.#show(undefined, file);
  }

  #move(file: TrackedFile, { path, identity }: Extract<InventoryStep, { do: "move" }>): void {
    if (!file.away) this.#update(file, asDue({ ...file, path, identity }));
  }

  /** The cloud knows of a file's times only that of its last change. */
  #renew(file: TrackedFile, { was, identity }: Extract<InventoryStep, { do: "renew" }>): void {
    if (was !== file.identity || file.state === "deleting" || file.away) return;
    const next = { ...file, identity };
    this.#statements.voidProof(file.versionId);
    if (!isSameContentHolder(was, identity)) this.#update(file, identity.mtimeNs === was.mtimeNs ? next : asDue(next));
    else if (this.#statements.setCtime(next)) this.#show(file, next);
  }

  #noteHash(file: TrackedFile, { of, sha256, isProof }: Extract<InventoryStep, { do: "noteHash" }>): void {
    if (of !== file.identity) return;
    const known = this.#statements.contentHash(file.versionId);
    if (known === undefined || known === sha256) {
      this.#statements.noteHash(file, { sha256, isProof });
    } else if (file.state !== "deleting" && !file.away) {
      this.#remove(file, "changed");
      this.#track({ do: "track", path: file.path, identity: file.identity });
    }
  }

  #confirm(file: TrackedFile, { as, revision }: Extract<InventoryStep, { do: "confirm" }>): void {
    const isNewest = revision === file.revision;
    const next = isNewest ? onEvent(file, "acknowledged") : file;
    this.#update(file, { ...next, reportedAs: as, needsReport: file.needsReport && !isNewest });
  }

  #place(file: TrackedFile, { revision, reason }: Extract<InventoryStep, { do: "place" }>): void {
    const next = onEvent(file, reason ? "unassigned" : "assigned");
    const reportedAs = reportedState(reason ? "unassigned" : "reported");
    const { versionId } = file;
    this.#update(file, { ...next, reportedAs, needsReport: file.needsReport && revision !== file.revision });
    const findings = this.#statements.findings(versionId);
    if (findings) writeFindings(this.#statements, { versionId, findings: { ...findings, reason } });
  }

  #event(file: TrackedFile, step: Extract<InventoryStep, { do: "event" }>): void {
    if (step.was && step.was !== file.identity) return;
    if (file.away && step.event === "changed") return;
    const life = onEvent(file, step.event);
    const state = lifeOf(life);
    if (state === "gone") {
      this.#remove(file, step.event === "changed" ? "changed" : "vanished");
      return;
    }
    if (step.outcome) this.#statements.setOutcome(file.versionId, step.outcome);
    else if (state !== lifeOf(file) && !keepsOutcome.has(state)) this.#statements.deleteOutcome(file.versionId);
    const endNs = step.findings ? step.findings.endNs : file.endNs;
    const next = { ...life, endNs, identity: step.identity ?? file.identity };
    if (state === lifeOf(file) && next.identity === file.identity && !step.findings) return;
    this.#update(file, reportedState(state) === reportedState(lifeOf(file)) ? next : asDue(next));
    if (step.findings) writeFindings(this.#statements, { versionId: file.versionId, findings: step.findings });
    for (const schema of step.schemas ?? []) this.#statements.insertSchema(schema as Schema);
    if (lifeOf(file) === "deleting") this.#statements.deleteIntent(file.versionId);
  }

  #intend(file: TrackedFile, { reason, was }: Extract<InventoryStep, { do: "intend" }>): void {
    const state = nextState(file.state, "deletionPlanned");
    if (state === file.state || was !== file.identity) return;
    this.#statements.insertIntent({ versionId: file.versionId, reason, stateBefore: file.state });
    this.#update(file, { ...file, state });
  }

  #forgetWish({ versionId }: TrackedFile, outcome: ImportOutcome | undefined): void {
    this.#statements.deleteWish(versionId);
    if (outcome) this.#statements.setOutcome(versionId, outcome);
  }

  #keep(file: TrackedFile, { isImportOver }: Extract<InventoryStep, { do: "keep" }>): void {
    const before = this.#statements.intent(file.versionId)?.stateBefore;
    let state = nextState(file.state, "kept");
    if (before === "imported" && !isImportOver) state = nextState(state, "importDone");
    if (before === "failed") state = nextState(state, "importFailed");
    if (before === "duplicate") state = nextState(state, "foundDuplicate");
    this.#statements.deleteIntent(file.versionId);
    this.#update(file, { ...file, state });
  }

  #noteDeleted(file: TrackedFile, atNs: bigint): void {
    const intent = this.#statements.intent(file.versionId);
    if (!intent || nextState(file.state, "deleted") !== "gone") return;
    this.#statements.insertDeleted(file, intent, atNs);
    this.#remove(file, intent.reason);
  }

  #remove(file: TrackedFile, because: GoneBecause): void {
    // Also when no report was acknowledged: one may have arrived whose answer was lost.
    const removal = reportedState(lifeOf(file)) && { reportedAs: file.reportedAs, because };
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
      if (after && !after.away) byPath.set(after.path, after);
      if (after) byVersion.set(versionId, after);
      else byVersion.delete(versionId);
      if (after?.needsReport) due.add(versionId);
      else due.delete(versionId);
    });
  }
}

/** Beneath `away`, what the cloud says goes on. */
function onEvent(file: TrackedFile, event: FileEvent): TrackedFile {
  if (!file.away) return { ...file, state: nextState(file.state, event) };
  return { ...file, away: { ...file.away, before: nextBeneath(file.away.before, event) } };
}

function asDue(file: TrackedFile): TrackedFile {
  if (reportedState(lifeOf(file)) === undefined) return file;
  return { ...file, needsReport: true, revision: file.revision + 1 };
}
