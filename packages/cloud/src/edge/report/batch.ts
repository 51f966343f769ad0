import type { EdgeItem } from "@downlink/protocol";
import type { AgentModel } from "../../db/generated/models.ts";
import type { Place } from "./find-place.ts";

/** The items of one report that are stored together. */
export interface Batch {
  readonly agent: AgentModel;
  /** No two items are of one version. */
  readonly items: readonly EdgeItem[];
  /** The owner of each file, by version id; a file that is not in it has no owner, and is no recording. */
  readonly places: ReadonlyMap<string, Place>;
  readonly listingId: string | undefined;
  readonly nowNs: bigint;
}

/** The recording of each version that the cloud knows, by version id. */
export type KnownVersions = ReadonlyMap<string, string | null>;
