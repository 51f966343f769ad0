import type {
  AttachmentFields,
  ChannelFields,
  ChunkIndexFields,
  FooterFields,
  IndexedPlace,
  MessageFields,
  MessageIndexFields,
  MetadataFields,
  SchemaFields,
  StatisticsFields,
} from "./record-bytes.ts";

/** Gets what would be true and answers what is written instead. */
export type Lie<T> = (truth: T) => T;

/** A file that is still to be written: what stands in it, and what it says wrongly. It is never changed, only copied. */
export interface Draft {
  /** The compression of most chunks. */
  readonly compression: Compression;
  /** Records before everything else. */
  readonly header: readonly Uint8Array[];
  readonly schemas: readonly SchemaFields[];
  readonly channels: readonly ChannelFields[];
  /** Everything between the header and the summary, in order. */
  readonly items: readonly DraftItem[];
  readonly summary: DraftSummary;
}

export type Compression = "" | "lz4" | "zstd";

/** The records that may stand in a chunk. */
export type DraftRecord =
  | { readonly kind: "schema"; readonly schema: SchemaFields }
  | { readonly kind: "channel"; readonly channel: ChannelFields }
  /** `isLost` says that a reader cannot give it as it was written. */
  | { readonly kind: "message"; readonly message: MessageFields; readonly isLost?: boolean }
  | { readonly kind: "raw"; readonly bytes: Uint8Array };

export type DraftItem =
  | DraftRecord
  | DraftChunk
  | { readonly kind: "attachment"; readonly attachment: AttachmentFields }
  | { readonly kind: "metadata"; readonly metadata: MetadataFields }
  | { readonly kind: "dataEnd"; readonly crc: "right" | "wrong" | "none" };

export interface DraftChunk {
  readonly kind: "chunk";
  readonly records: readonly DraftRecord[];
  /** The name as it is written. `frame` makes the bytes. */
  readonly compression: string;
  readonly frame: (records: Uint8Array) => Uint8Array;
  readonly crc: "right" | "wrong" | "none";
  readonly head: Lie<ChunkSpan>;
  readonly indexes: Lie<readonly MessageIndexFields[]>;
  readonly added: Uint8Array;
  /** The records between the chunk and its indexes. */
  readonly gap?: Uint8Array;
  /** True if the summary knows nothing of it. */
  readonly isHidden?: boolean;
  /** True if its messages cannot be read, or are refuted by a checksum. */
  readonly isLost?: boolean;
}

export interface ChunkSpan {
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly uncompressedBytes: number;
}

export interface DraftSummary {
  /** Groups of records in the order in which they are written. If there are none, there is no summary. */
  readonly groups: readonly SummaryGroup[];
  readonly hasOffsets: boolean;
  readonly schemas: Lie<readonly SchemaFields[]>;
  readonly channels: Lie<readonly ChannelFields[]>;
  readonly statistics: Lie<readonly StatisticsFields[]>;
  readonly chunkIndexes: Lie<readonly ChunkIndexFields[]>;
  /** Where attachments and metadata records are said to stand. */
  readonly places: Lie<IndexedPlace>;
  /** The statements of the summary offsets. */
  readonly offsets: Lie<readonly (readonly [opcode: number, place: IndexedPlace])[]>;
  /** The whole section. */
  readonly section: Lie<Uint8Array>;
  readonly footer: Lie<FooterPlaces>;
  /** `stale` is right for what would have been written without the last two lies. */
  readonly crc: "right" | "stale" | "wrong" | "none";
}

export type FooterPlaces = Pick<FooterFields, "summaryStart" | "summaryOffsetStart">;

export type SummaryGroup =
  | "schemas"
  | "channels"
  | "statistics"
  | "chunkIndexes"
  | "attachmentIndexes"
  | "metadataIndexes";

/** Applies one falsehood after the other. */
export function alsoLie<T>(first: Lie<T>, second: Lie<T>): Lie<T> {
  return (truth) => second(first(truth));
}

export function withSummary(draft: Draft, change: (summary: DraftSummary) => Partial<DraftSummary>): Draft {
  return { ...draft, summary: { ...draft.summary, ...change(draft.summary) } };
}

export function chunksOf(draft: Draft): DraftChunk[] {
  return draft.items.filter((item) => item.kind === "chunk");
}

/** Changes the given chunks. */
export function withChunks(
  draft: Draft,
  chosen: readonly DraftChunk[],
  change: (chunk: DraftChunk) => Partial<DraftChunk>,
): Draft {
  const items = draft.items.map((item) =>
    item.kind === "chunk" && chosen.includes(item) ? { ...item, ...change(item) } : item,
  );
  return { ...draft, items };
}

/** Changes each record, in chunks and outside. */
export function withRecords(draft: Draft, change: (record: DraftRecord) => readonly DraftRecord[]): Draft {
  const items = draft.items.flatMap((item): readonly DraftItem[] => {
    if (item.kind === "chunk") return [{ ...item, records: item.records.flatMap(change) }];
    return isRecord(item) ? change(item) : [item];
  });
  return { ...draft, items };
}

export function withMessages(draft: Draft, change: (message: MessageFields) => MessageFields): Draft {
  return withRecords(draft, (record) =>
    record.kind === "message" ? [{ ...record, message: change(record.message) }] : [record],
  );
}

export function messagesOf(draft: Draft): MessageFields[] {
  return draft.items.flatMap((item) => {
    if (item.kind === "chunk")
      return item.records.flatMap((record) => (record.kind === "message" ? [record.message] : []));
    return item.kind === "message" ? [item.message] : [];
  });
}

function isRecord(item: DraftItem): item is DraftRecord {
  return item.kind === "schema" || item.kind === "channel" || item.kind === "message" || item.kind === "raw";
}
