import type { RawMessage } from "./raw-message.ts";

/** How exports read the records of a format, decompressed and one behind the other. */
export interface RecordLayout {
  /** Answers the size of the record at a place, or at least so much as is needed to know it. */
  sizeAt(bytes: Buffer, at: number): number;
  /** Answers what the message says that begins here, or undefined if too little of its record is held, or if it is no message. */
  readHead(bytes: Buffer, place: string): MessageHead | undefined;
  /**
   * Visits the messages of whole records in their order. It is absent if the records are those of MCAP: they are copied as they are, and what
   * stands behind the last wanted message need not be there.
   */
  readonly visitMessages?: VisitMessages;
}

export interface MessageHead {
  readonly message: Omit<RawMessage, "data">;
  /** Where in the record the message's data begin, which go up to its end. */
  readonly dataAt: number;
}

export type VisitMessages = (bytes: Uint8Array, place: string, visit: (message: RawMessage) => void) => void;
