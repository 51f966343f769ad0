import type { DeletionReason, EdgeItem } from "@downlink/protocol";
import type { FileEvent, FileState } from "./file-state.ts";
import type { FileIdentity } from "./identity.ts";

export type ReportedState = EdgeItem["state"];

/** One version of a file that is there. */
export interface TrackedFile {
  readonly versionId: string;
  /** Below the root, `/`-separated. */
  readonly path: string;
  readonly identity: FileIdentity;
  readonly state: FileState;
  /** Of the last message, once it was indexed. */
  readonly endNs?: bigint;
  /** Where it is, in state `away`. */
  readonly away?: Away | undefined;
  /** As what the cloud acknowledged it last. */
  readonly reportedAs: ReportedState | undefined;
  readonly needsReport: boolean;
  /** Grows with each change the cloud should hear of; tells whether an acknowledgement is of the newest. */
  readonly revision: number;
  /** Number of the last scan that came across it as it is here; 0 where there was none since the start. */
  readonly foundIn: number;
}

/** Of a file whose card is out. */
export interface Away {
  /** The id in the card's marker. */
  readonly card: string;
  /** What it is again once the card is in; what the cloud says meanwhile changes it. */
  readonly before: FileState;
  /** Wall time, nanoseconds. */
  readonly sinceNs: bigint;
}

/** The state without regard to where the file's card is. */
export function lifeOf({ state, away }: Pick<TrackedFile, "state" | "away">): FileState {
  return away?.before ?? state;
}

/** What indexing found out. */
export interface Findings {
  readonly headTailSha256: string;
  readonly startNs?: bigint;
  readonly endNs?: bigint;
  readonly reason?: { readonly code: string; readonly text: string };
  /** The item for the cloud in wire form, as JSON; absent where path, state, reason and span say all. */
  readonly item?: string;
}

export interface Schema {
  readonly sha256: string;
  readonly data: Uint8Array;
}

/** How the last import of a file ended, where that is worth a word: a code of the cloud's or the agent's, and the reason for people. */
export interface ImportOutcome {
  readonly code: string;
  readonly text: string;
}

/** Why a version is gone: somebody else changed or removed the file, or we deleted it under that rule. */
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
      /** Kept until an event leads to another state than one of an import that ended. */
      readonly outcome?: ImportOutcome;
    }
  /**
   * The file that is there is the version that it was: only what the file system says of it changed. No effect when it
   * changed once more since `was`.
   */
  | { readonly do: "renew"; readonly versionId: string; readonly was: FileIdentity; readonly identity: FileIdentity }
  /**
   * SHA-256 of all bytes, read under the identity `of`. Where another one is known of the version, what is there is
   * another version: the file is tracked as one.
   */
  | {
      readonly do: "noteHash";
      readonly versionId: string;
      readonly sha256: string;
      readonly of: FileIdentity;
      /** Whether a later change of the bytes shows: only then may a deletion rest on it. */
      readonly isProof: boolean;
    }
  /** The file is to be deleted: nothing has happened to it yet. */
  | { readonly do: "intend"; readonly versionId: string; readonly reason: DeletionReason; readonly was: FileIdentity }
  /** From now on it may be in the trash, or gone. Without a permit where none is needed. */
  | { readonly do: "permit"; readonly versionId: string; readonly permitId: string | undefined }
  /** It stays, as what it was before; with `isImportOver`, as what is not imported any more. */
  | { readonly do: "keep"; readonly versionId: string; readonly isImportOver?: boolean }
  | { readonly do: "noteDeleted"; readonly versionId: string; readonly atNs: bigint }
  | { readonly do: "confirm"; readonly versionId: string; readonly as: ReportedState; readonly revision: number }
  /** The cloud was told, and knows whose it is; or with a reason, that nobody's. */
  | {
      readonly do: "place";
      readonly versionId: string;
      readonly revision: number;
      readonly reason?: NonNullable<Findings["reason"]>;
    }
  /** The cloud is to hear of it anew. */
  | { readonly do: "reportAgain"; readonly versionId: string }
  /** Somebody on the device asked for its import, or the cloud has heard of that. */
  | { readonly do: "requestImport"; readonly versionId: string }
  | { readonly do: "forgetLocalRequest"; readonly versionId: string; readonly outcome?: ImportOutcome }
  | { readonly do: "forgetRemoval"; readonly versionId: string };

/** A deletion that was decided and is not over. */
export interface DeletionIntent {
  readonly versionId: string;
  readonly reason: DeletionReason;
  readonly stateBefore: FileState;
  /** Undefined while there is none; empty where none is needed. */
  readonly permitId: string | undefined;
}

/** A deletion that is over, with its proof. */
export interface PastDeletion {
  readonly path: string;
  readonly sizeBytes: number;
  readonly reason: DeletionReason;
  readonly atNs: bigint;
}
