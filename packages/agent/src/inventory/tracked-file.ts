import type { EdgeItem } from "@downlink/protocol";
import type { FileIdentity } from "../files/identity.ts";
import type { FileEvent, FileState } from "./file-state.ts";

export type ReportedState = EdgeItem["state"];

/** One version of a file that is there. */
export interface TrackedFile {
  readonly versionId: string;
  /** Below the root, `/`-separated. */
  readonly path: string;
  readonly identity: FileIdentity;
  readonly state: FileState;
  /** As what the cloud acknowledged it last. */
  readonly reportedAs: ReportedState | undefined;
  readonly needsReport: boolean;
  /** Grows with each change the cloud should hear of; tells whether an acknowledgement is of the newest. */
  readonly revision: number;
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

/** Why a version is gone. */
export type GoneBecause = "changed" | "vanished";

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
    }
  | { readonly do: "confirm"; readonly versionId: string; readonly as: ReportedState; readonly revision: number }
  | { readonly do: "forgetRemoval"; readonly versionId: string };
