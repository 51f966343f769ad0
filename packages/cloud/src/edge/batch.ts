import type { EdgeItem } from "@downlink/protocol";
import type { AgentModel } from "../db/generated/models.ts";
import type { Place } from "./find-place.ts";

/** The items of one report that are stored together. */
export interface Batch {
  readonly agent: AgentModel;
  /** No two of one version. */
  readonly items: readonly EdgeItem[];
  /** Whose they are, by version id; what is not in it belongs nowhere, and is no recording. */
  readonly places: ReadonlyMap<string, Place>;
  readonly listingId: string | undefined;
  readonly nowNs: bigint;
}

/** The recording of each version that the cloud knows, by version id. */
export type KnownVersions = ReadonlyMap<string, string | null>;
