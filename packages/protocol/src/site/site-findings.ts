import { z } from "zod";
import { RecordingFormat } from "../shapes/recording-formats.ts";
import { areSpansOf, MAX_SPANS, SPANS_RULE } from "../shapes/spans.ts";
import { DataDamage } from "../shapes/summaries.ts";
import { StorableText } from "../shapes/text.ts";

/** JSON has no integers of 64 bits, and the database has none above them. */
const Integer = z
  .codec(z.string().regex(/^(0|-?[1-9]\d{0,18})$/), z.bigint(), { decode: BigInt, encode: String })
  .refine((value) => BigInt.asIntN(64, value) === value, "must be an integer of 64 bits");
const Bytes = z.codec(z.base64(), z.instanceof(Uint8Array), {
  decode: (text) => z.util.base64ToUint8Array(text) as Uint8Array<ArrayBuffer>,
  encode: (bytes) => z.util.uint8ArrayToBase64(bytes),
});
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Count = z.int().min(0);

const FoundTopic = z.object({
  topic: StorableText,
  version: z.string().regex(/^[0-9a-f]{16}$/),
  messageEncoding: StorableText,
  schemaName: StorableText,
  schemaEncoding: StorableText,
  schemaSha256: Sha256,
  messageCount: Count,
  channelsKey: StorableText.optional(),
  startNs: Integer.optional(),
  endNs: Integer.optional(),
  maxGapNs: Integer.optional(),
  activity: Bytes.optional(),
});

const FoundAttachment = z.object({
  name: StorableText,
  mediaType: StorableText,
  logTimeNs: Integer,
  createTimeNs: Integer,
  crc: Count,
  dataOffset: Count,
  sizeBytes: Count,
  dataSha256: Sha256.optional(),
});

/**
 * The findings of the process of a self-hosted site in a file: all that the control plane ever learns of the file. They are sent as JSON,
 * compressed and in pieces, because a file may have 65,535 topics.
 */
export const SiteFindings = z
  .object({
    sha256: Sha256,
    format: RecordingFormat,
    sizeBytes: Count,
    messageCount: Count,
    startNs: Integer,
    endNs: Integer,
    /** When there are messages, if long gaps lie between them. */
    spans: z
      .array(z.object({ startNs: Integer, endNs: Integer }))
      .min(2)
      .max(MAX_SPANS)
      .optional(),
    topics: z.array(FoundTopic),
    /** The text of each schema once, by its SHA-256. */
    schemas: z.array(z.object({ sha256: Sha256, data: Bytes })),
    attachments: z.array(FoundAttachment),
    metadata: z.array(z.object({ name: StorableText, metadata: z.record(StorableText, StorableText) })),
    identity: z.object({
      deviceId: StorableText.optional(),
      deviceName: StorableText.optional(),
      projectId: StorableText.optional(),
      key: StorableText.optional(),
      sessionKey: StorableText.optional(),
    }),
    damage: DataDamage.optional(),
  })
  .refine(
    ({ spans, startNs, endNs }) => {
      const pairs = spans?.map((span) => [span.startNs, span.endNs] as const);
      return pairs === undefined || areSpansOf(pairs, [startNs, endNs]);
    },
    { path: ["spans"], error: SPANS_RULE },
  );
export type SiteFindings = z.output<typeof SiteFindings>;
