/** Reads one message as a text of JSON on one line; an error says what is wrong with it. */
export type Decode = (data: Uint8Array) => string;
