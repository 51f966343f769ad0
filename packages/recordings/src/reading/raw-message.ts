export interface RawMessage {
  channelId: number;
  sequence: number;
  logTimeNs: bigint;
  publishTimeNs: bigint;
  /** A view into the bytes that it was read from. */
  data: Uint8Array;
}
