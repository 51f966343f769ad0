import { randomBytes } from "node:crypto";
import type { DeletionStatements } from "./deletion-rows.ts";
import { type FileEvent, type FileState, nextBeneath, nextState, reportedState } from "./file-state.ts";
import { isSameContentHolder } from "./identity.ts";
import { type Statements, writeFindings } from "./inventory-rows.ts";
import type { Memory } from "./memory.ts";
import type { OutcomeStatements } from "./outcome-rows.ts";
import { type GoneBecause, type ImportOutcome, type InventoryStep, lifeOf, type TrackedFile } from "./tracked-file.ts";

export type AllStatements = Statements & DeletionStatements & OutcomeStatements;

/** In these states it stays known how the import ended. */
const keepsOutcome: ReadonlySet<FileState> = new Set(["failed", "duplicate", "deleting"]);

type StepOnFile = Exclude<InventoryStep, { do: "track" | "forgetRemoval" }>;
type StepOfEvent = Extract<InventoryStep, { do: "event" }>;
/** These steps have no effect unless the file is being deleted. */
type StepOfDeletion = Extract<InventoryStep, { do: "permit" | "keep" | "noteDeleted" }>;

/** One change: its steps are written into the open transaction, and shown in memory after the commit. */
export class Journal {
  readonly #memory: Memory;
  readonly #statements: AllStatements;
  readonly #touched = new Map<string, TrackedFile | undefined>();
  readonly #publications: (() => void)[] = [];

  constructor(memory: Memory, statements: AllStatements) {
    this.#memory = memory;
    this.#statements = statements;
  }

  apply(step: InventoryStep): void {
    switch (step.do) {
      case "track":
        this.#track(step);
        break;
      case "forgetRemoval":
        this.#forgetRemoval(step.versionId);
        break;
      default: {
        const file = this.#find(step.versionId);
        if (file) this.#applyTo(file, step);
      }
    }
  }

  #applyTo(file: TrackedFile, step: StepOnFile): void {
    switch (step.do) {
      case "move":
        this.#move(file, step);
        break;
      case "confirm":
        this.#confirm(file, step);
        break;
      case "reportAgain":
        this.#update(file, asDue(file));
        break;
      case "place":
        this.#place(file, step);
        break;
      case "event":
        this.#event(file, step);
        break;
      case "renew":
        this.#renew(file, step);
        break;
      case "noteHash":
        this.#noteHash(file, step);
        break;
      case "requestImport":
        this.#statements.insertLocalRequest(file.versionId);
        break;
      case "forgetLocalRequest":
        this.#forgetLocalRequest(file, step.outcome);
        break;
      case "intend":
        this.#intend(file, step);
        break;
      default:
        if (file.state === "deleting") this.#goOnDeleting(file, step);
    }
  }

  #goOnDeleting(file: TrackedFile, step: StepOfDeletion): void {
    switch (step.do) {
      case "permit":
        this.#statements.permitIntent(file.versionId, step.permitId ?? "");
        break;
      case "keep":
        this.#keep(file, step);
        break;
      case "noteDeleted":
        this.#noteDeleted(file, step.atNs);
        break;
      default:
        step satisfies never;
    }
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

  /** A new mtime is reported, because the cloud knows it; a new ctime is not. */
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

  #event(file: TrackedFile, step: StepOfEvent): void {
    if (step.was && step.was !== file.identity) return;
    if (file.away && step.event === "changed") return;
    const life = onEvent(file, step.event);
    const state = lifeOf(life);
    if (state === "gone") {
      this.#remove(file, step.event === "changed" ? "changed" : "vanished");
      return;
    }
    this.#recordOutcome(file, state, step.outcome);
    const endNs = step.findings ? step.findings.endNs : file.endNs;
    const next = { ...life, endNs, identity: step.identity ?? file.identity };
    if (state === lifeOf(file) && next.identity === file.identity && !step.findings) return;
    this.#update(file, reportedState(state) === reportedState(lifeOf(file)) ? next : asDue(next));
    this.#recordFindings(file.versionId, step);
    if (lifeOf(file) === "deleting") this.#statements.deleteIntent(file.versionId);
  }

  /** An outcome is kept until an event leads to a state other than that of an import that ended. */
  #recordOutcome(file: TrackedFile, next: FileState, outcome: ImportOutcome | undefined): void {
    if (outcome) this.#statements.setOutcome(file.versionId, outcome);
    else if (next !== lifeOf(file) && !keepsOutcome.has(next)) this.#statements.deleteOutcome(file.versionId);
  }

  #recordFindings(versionId: string, { findings, schemas = [] }: StepOfEvent): void {
    if (findings) writeFindings(this.#statements, { versionId, findings });
    for (const schema of schemas) this.#statements.insertSchema(schema);
  }

  #intend(file: TrackedFile, { reason, was }: Extract<InventoryStep, { do: "intend" }>): void {
    const state = nextState(file.state, "deletionPlanned");
    if (state === file.state || was !== file.identity) return;
    this.#statements.insertIntent({ versionId: file.versionId, reason, stateBefore: file.state });
    this.#update(file, { ...file, state });
  }

  #forgetLocalRequest({ versionId }: TrackedFile, outcome: ImportOutcome | undefined): void {
    this.#statements.deleteLocalRequest(versionId);
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
    // A removal is kept even when no report was acknowledged: a report may have arrived whose answer was lost.
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

/** For a file that is away, the event changes the state beneath. */
function onEvent(file: TrackedFile, event: FileEvent): TrackedFile {
  if (!file.away) return { ...file, state: nextState(file.state, event) };
  return { ...file, away: { ...file.away, before: nextBeneath(file.away.before, event) } };
}

function asDue(file: TrackedFile): TrackedFile {
  if (reportedState(lifeOf(file)) === undefined) return file;
  return { ...file, needsReport: true, revision: file.revision + 1 };
}
