import { deflateRawSync, inflateRawSync } from "node:zlib";
import { DataDamage } from "@downlink/protocol";
import { z } from "zod";

/** A stored recording, with the span of its messages in decimal nanoseconds. */
const StoredSource = z.object({
  recordingId: z.string(),
  blobKey: z.string(),
  /** The size of the bytes under that key: an export that finds another one ends. */
  sizeBytes: z.number(),
  sha256: z.string().optional(),
  /** The key of the verified index. Where it is absent, one is made for this export alone. */
  indexKey: z.string().optional(),
  fileName: z.string(),
  startNs: z.string(),
  endNs: z.string(),
  /** Into the selection's `topicSets`. */
  topicSet: z.number().optional(),
});
export type StoredSource = z.infer<typeof StoredSource>;

const ExportSelection = z.object({
  /** What the receiver's file is called. */
  fileName: z.string(),
  sources: z.array(StoredSource),
  /** Which topics recordings have, with what tells their channels apart; most recordings of a device have the same. */
  topicSets: z.array(z.array(z.tuple([z.string(), z.string()]))),
  /** The damage of all recordings together, for the stream's header. */
  damage: DataDamage.optional(),
  topics: z.array(z.string()),
  /** Decimal nanoseconds; inclusive. */
  startNs: z.string().optional(),
  endNs: z.string().optional(),
  /** The latest message of each channel before the start comes first; `lookbackNs`: from at most so long before. */
  lastPerChannel: z.object({ lookbackNs: z.string().optional() }).optional(),
  includeAttachments: z.boolean(),
  output: z.discriminatedUnion("format", [
    z.object({ format: z.literal("mcap"), compression: z.enum(["", "lz4", "zstd"]) }),
    z.object({ format: z.literal("bag1"), compression: z.enum(["", "lz4"]) }),
  ]),
});
/** What an export link says of the stream behind it. */
export type ExportSelection = z.infer<typeof ExportSelection>;

/** The selection in few bytes: it names thousands of recordings, or hundreds of topics. */
export function packSelection(selection: ExportSelection): Buffer {
  return deflateRawSync(JSON.stringify(selection));
}

/** Only of what this deployment packed: claims whose signature was checked, or the object that they name. */
export function unpackSelection(packed: Uint8Array): ExportSelection {
  return ExportSelection.parse(JSON.parse(inflateRawSync(packed).toString("utf8")));
}
