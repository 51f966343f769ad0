export interface Clock {
  /** Nanoseconds since the epoch. */
  nowNs(): bigint;
}
