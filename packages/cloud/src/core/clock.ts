export interface Clock {
  /** Returns nanoseconds since the epoch. */
  nowNs(): bigint;
}
