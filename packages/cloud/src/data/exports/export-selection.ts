import { deflateRawSync, inflateRawSync } from "node:zlib";
import { DataDamage, MissingData } from "@downlink/protocol";
import { z } from "zod";

/** A stored recording, with the span of its messages in decimal nanoseconds. */
const StoredSource = z.object({
  recordingId: z.string(),
  blobKey: z.string(),
  /** The size of the object under that key: an export that finds another size ends. */
  sizeBytes: z.number(),
  sha256: z.string().optional(),
  /** The key of the verified index. If it is absent, an index is made for this export alone. */
  indexKey: z.string().optional(),
  fileName: z.string(),
  startNs: z.string(),
  endNs: z.string(),
  /** An index into the selection's `topicSets`. */
  topicSet: z.number().optional(),
});
export type StoredSource = z.infer<typeof StoredSource>;

const ExportSelection = z.object({
  /** The name of the file at the receiver. */
  fileName: z.string(),
  /** Whose recordings they are; absent in links of before, which name only objects of recordings. */
  orgId: z.string().optional(),
  /** The self-hosted site that has all recordings; absent: they are here. */
  siteId: z.string().optional(),
  sources: z.array(StoredSource),
  /** The topics of recordings, with what tells their channels apart; most recordings of a device have the same topics. */
  topicSets: z.array(z.array(z.tuple([z.string(), z.string()]))),
  /** The damage of all recordings together, for the header of the stream. */
  damage: DataDamage.optional(),
  /** The selected data that is not here, for the header of the stream. */
  missing: MissingData.omit({ recordingIds: true }).optional(),
  topics: z.array(z.string()),
  /** Decimal nanoseconds; both ends are inclusive. */
  startNs: z.string().optional(),
  endNs: z.string().optional(),
  /** The latest message of each channel before the start comes first; `lookbackNs` limits how long before. */
  lastPerChannel: z.object({ lookbackNs: z.string().optional() }).optional(),
  includeAttachments: z.boolean(),
  output: z.discriminatedUnion("format", [
    z.object({ format: z.literal("mcap"), compression: z.enum(["", "lz4", "zstd"]) }),
    z.object({ format: z.literal("bag1"), compression: z.enum(["", "lz4"]) }),
  ]),
});
/** The description of the stream that an export link leads to. */
export type ExportSelection = z.infer<typeof ExportSelection>;

/** Packs the selection into few bytes, because it may name thousands of recordings or hundreds of topics. */
export function packSelection(selection: ExportSelection): Buffer {
  return deflateRawSync(JSON.stringify(selection));
}

/** Use this only for what this deployment packed: claims with a valid signature, or the object that they name. */
export function unpackSelection(packed: Uint8Array): ExportSelection {
  return ExportSelection.parse(JSON.parse(inflateRawSync(packed).toString("utf8")));
}
