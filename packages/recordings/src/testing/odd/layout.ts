import type {
  AttachmentFields,
  ChunkIndexFields,
  IndexedPlace,
  MessageFields,
  MetadataFields,
} from "./record-bytes.ts";

/** The places of what was written. */
export interface Layout {
  readonly chunks: ChunkIndexFields[];
  readonly attachments: { readonly attachment: AttachmentFields; readonly place: IndexedPlace }[];
  readonly metadata: { readonly metadata: MetadataFields; readonly place: IndexedPlace }[];
  /** The messages in the order of the file. */
  readonly messages: WrittenMessage[];
}

export interface WrittenMessage {
  readonly message: MessageFields;
  /** No checksum of a chunk covers it. */
  readonly isUnchecked: boolean;
  /** The summary knows nothing of it. */
  readonly isHidden: boolean;
  isLost: boolean;
}

/** Pieces of a file, and the offset behind them. */
export interface Pieces {
  readonly lengthBytes: number;
  push(bytes: Uint8Array): IndexedPlace;
  join(): Buffer;
}

export function gatherPieces(): Pieces {
  const list: Uint8Array[] = [];
  let lengthBytes = 0;
  return {
    get lengthBytes() {
      return lengthBytes;
    },
    push(bytes) {
      const place = { offset: lengthBytes, lengthBytes: bytes.byteLength };
      list.push(bytes);
      lengthBytes += bytes.byteLength;
      return place;
    },
    join: () => Buffer.concat(list),
  };
}

export function compareTimes(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
