import { z } from "zod";
import { StoredTexts } from "./any-keys.ts";
import { knownText } from "./text.ts";
import { Timestamp } from "./time.ts";

export const DeviceSummary = z.object({ id: z.string(), name: z.string() }).meta({ id: "DeviceSummary" });
export const SiteSummary = z
  .object({
    id: z.string(),
    name: z.string(),
    indexingStrategy: knownText(["split-files", "whole-files"]).meta({
      description: "`split-files`: it makes a file for each topic of a recording, too; `whole-files`: it does not",
    }),
  })
  .meta({ id: "SiteSummary" });
export const EdgeSiteSummary = z.object({ id: z.string(), name: z.string() }).meta({ id: "EdgeSiteSummary" });

/** Where a file lies in a bucket that the customer owns. */
export const RecordingLocation = z
  .object({ path: z.string(), bucket: z.string(), azureStorageAccountName: z.string().optional() })
  .meta({ id: "RecordingLocation" });
export type RecordingLocation = z.infer<typeof RecordingLocation>;

/** A number of bytes, as a JSON number below 2^53. */
export const ByteCount = z.int().min(0);

export const MetadataRecord = z.object({ name: z.string(), metadata: StoredTexts }).meta({ id: "MetadataRecord" });

/** Why something failed. */
export const Failure = z
  .object({
    code: z.string().meta({ description: "For programs", example: "Truncated" }),
    text: z.string().meta({ description: "A sentence, for people" }),
  })
  .meta({ id: "Failure" });
export type Failure = z.infer<typeof Failure>;

/** The parts of imported data that cannot be read, while the rest can. */
export const DataDamage = z
  .object({
    chunksLost: z.int().min(0),
    messagesLost: z.int().min(0).meta({ description: "Known to be in what was lost" }),
    isCountKnown: z.boolean().meta({ description: "False: more messages may be lost than are known of" }),
    attachmentsLost: z.int().min(0),
    bytesLost: z.int().min(0),
    messagesGuessed: z.int().min(1).optional().meta({
      description:
        "Messages out of chunks that are not whole, which make sense and which nothing proves; they are not lost",
    }),
    messagesDoubted: z.int().min(1).optional().meta({
      description: "Messages with impossible times; they are not lost, and the recording's span is without them",
    }),
    reasons: z.array(z.object({ code: z.string(), text: z.string() })).meta({
      description: "The first ten, for people; a damaged summary or checksum that lost nothing is named here too",
    }),
  })
  .meta({ id: "DataDamage" });
export type DataDamage = z.infer<typeof DataDamage>;

/**
 * Why a selected recording cannot be streamed. `at-edge`: it is on its device, and its import is not requested. `not-imported`: its import
 * was requested and is not complete. `failed`: its import failed. `deleted`: it was deleted, and an episode still names it. `unavailable`:
 * it was imported, and its data is not stored any more. `damaged`: the stored data is not what was imported.
 */
export const MissingReason = z.enum(["at-edge", "not-imported", "failed", "deleted", "unavailable", "damaged"]);
export type MissingReason = z.infer<typeof MissingReason>;

/**
 * The damage of the stored data of a recording. `missing`: the object store does not have it. `truncated`: it has another size than
 * what was imported. `altered`: it has other bytes, or cannot be read.
 */
export const StoredDamage = z
  .object({
    reason: z.enum(["missing", "truncated", "altered"]),
    since: Timestamp.meta({ description: "When that was found" }),
  })
  .meta({ id: "StoredDamage" });
export type StoredDamage = z.infer<typeof StoredDamage>;

/** Selected recordings whose data is not here. */
export const MissingData = z
  .object({
    recordings: z.int().min(1).meta({ description: "How many" }),
    reasons: z.array(z.object({ reason: MissingReason, count: z.int().min(1) })).meta({
      description: "The most frequent one first",
    }),
    recordingIds: z.array(z.string()).meta({ description: "The first hundred" }),
  })
  .meta({ id: "MissingData" });
export type MissingData = z.infer<typeof MissingData>;

/** The creator of something: an API key, or a member. */
export const Creator = z.object({
  kind: z.enum(["apiKey", "member"]),
  id: z.string(),
  name: z.string().optional().meta({ description: "As it was then" }),
});
export type Creator = z.infer<typeof Creator>;
