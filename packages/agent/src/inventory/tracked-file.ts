import type { DeletionReason, EdgeItem } from "@downlink/protocol";
import type { FileEvent, FileState } from "./file-state.ts";
import type { FileIdentity } from "./identity.ts";

export type ReportedState = EdgeItem["state"];

/** One version of a file that is there. */
export interface TrackedFile {
  readonly versionId: string;
  /** Relative to the root, with `/` between its parts. */
  readonly path: string;
  readonly identity: FileIdentity;
  readonly state: FileState;
  /** The time of the last message, once the file was indexed. */
  readonly endNs?: bigint;
  /** Where the file is while its state is `away`. */
  readonly away?: Away | undefined;
  /** The state that the cloud acknowledged last. */
  readonly reportedAs: ReportedState | undefined;
  readonly needsReport: boolean;
  /** Grows with each change that the cloud should know, and tells whether an acknowledgement is for the newest one. */
  readonly revision: number;
  /** The number of the last scan that found the file as it is here; 0 where none did since the start. */
  readonly foundIn: number;
}

/** Where a file is whose card is out. */
export interface Away {
  /** The id in the card's marker. */
  readonly card: string;
  /** The state to which the file comes back with its card. Answers of the cloud change it meanwhile. */
  readonly before: FileState;
  /** Wall time, nanoseconds. */
  readonly sinceNs: bigint;
}

/** Returns the state without regard to where the file's card is. */
export function lifeOf({ state, away }: Pick<TrackedFile, "state" | "away">): FileState {
  return away?.before ?? state;
}

/** The findings of the file's examination. */
export interface Findings {
  readonly headTailSha256: string;
  readonly startNs?: bigint;
  readonly endNs?: bigint;
  readonly reason?: { readonly code: string; readonly text: string };
  /** The item for the cloud as JSON in its wire form; absent where path, state, reason and span say all. */
  readonly item?: string;
}

export interface Schema {
  readonly sha256: string;
  readonly data: Uint8Array;
}

/** How the last import of a file ended: a code of the cloud or of the agent, and the reason as people read it. */
export interface ImportOutcome {
  readonly code: string;
  readonly text: string;
}

/** Why a version is gone: another program changed or removed the file, or we deleted it under that rule. */
export type GoneBecause = "changed" | "vanished" | DeletionReason;

export interface Removal {
  readonly reportedAs: ReportedState | undefined;
  readonly because: GoneBecause;
}

/** One step of a change to the inventory. The steps of one change are recorded all or none. */
export type InventoryStep =
  | { readonly do: "track"; readonly path: string; readonly identity: FileIdentity }
  | { readonly do: "move"; readonly versionId: string; readonly path: string; readonly identity: FileIdentity }
  | {
      readonly do: "event";
      readonly versionId: string;
      readonly event: FileEvent;
      /** The identity on which the decision was made: no effect when the file has another one by now. */
      readonly was?: FileIdentity;
      readonly identity?: FileIdentity;
      readonly findings?: Findings;
      readonly schemas?: readonly Schema[];
      /** It is kept until an event leads to a state other than that of an import that ended. */
      readonly outcome?: ImportOutcome;
    }
  /**
   * The file is still the same version: only what the file system says about it changed. The step has no effect when that
   * changed once more since `was`.
   */
  | { readonly do: "renew"; readonly versionId: string; readonly was: FileIdentity; readonly identity: FileIdentity }
  /**
   * The SHA-256 of all bytes, read under the identity `of`. Where another hash is known of the version, the file is another
   * version from now on.
   */
  | {
      readonly do: "noteHash";
      readonly versionId: string;
      readonly sha256: string;
      readonly of: FileIdentity;
      /** Whether a later change of the bytes would show: only then may a deletion rely on the hash. */
      readonly isProof: boolean;
    }
  /** The file is to be deleted: nothing has happened to it yet. */
  | { readonly do: "intend"; readonly versionId: string; readonly reason: DeletionReason; readonly was: FileIdentity }
  /** From now on the file may be in the trash, or gone. `permitId` is undefined where no permit is needed. */
  | { readonly do: "permit"; readonly versionId: string; readonly permitId: string | undefined }
  /** The file stays, in the state before; with `isImportOver`, as one that is not imported any more. */
  | { readonly do: "keep"; readonly versionId: string; readonly isImportOver?: boolean }
  | { readonly do: "noteDeleted"; readonly versionId: string; readonly atNs: bigint }
  | { readonly do: "confirm"; readonly versionId: string; readonly as: ReportedState; readonly revision: number }
  /** The file was reported, and the cloud knows its device; with a reason, the cloud knows of no device. */
  | {
      readonly do: "place";
      readonly versionId: string;
      readonly revision: number;
      readonly reason?: NonNullable<Findings["reason"]>;
    }
  /** The file is due to be reported once more. */
  | { readonly do: "reportAgain"; readonly versionId: string }
  /** A user on the device requested the import; the other step follows once the cloud has received that. */
  | { readonly do: "requestImport"; readonly versionId: string }
  | { readonly do: "forgetLocalRequest"; readonly versionId: string; readonly outcome?: ImportOutcome }
  | { readonly do: "forgetRemoval"; readonly versionId: string };

/** A deletion that was decided and is not over. */
export interface DeletionIntent {
  readonly versionId: string;
  readonly reason: DeletionReason;
  readonly stateBefore: FileState;
  /** Undefined while there is no permit; empty where none is needed. */
  readonly permitId: string | undefined;
}

/** A deletion that is over, with its proof. */
export interface PastDeletion {
  readonly path: string;
  readonly sizeBytes: number;
  readonly reason: DeletionReason;
  readonly atNs: bigint;
}
