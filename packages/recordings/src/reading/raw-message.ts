export interface RawMessage {
  readonly channelId: number;
  readonly sequence: number;
  readonly logTimeNs: bigint;
  readonly publishTimeNs: bigint;
  /** A view into the bytes that it was read from. */
  readonly data: Uint8Array;
}
