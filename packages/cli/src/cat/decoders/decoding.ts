/** The form of a channel's messages. */
export interface Encoded {
  readonly messageEncoding: string;
  readonly schemaEncoding: string;
  readonly schemaName: string;
  readonly schema: Uint8Array;
}

/** Reads one message as a text of JSON on one line; an error says what is wrong with it. */
export type Decode = (data: Uint8Array) => string;
