export interface BucketCall {
  /** As the bucket's own documentation names it, such as GetObject. */
  readonly verb: string;
  /**
   * `refused`: the bucket answered that it does not do it, such as for an object that is not there. `failed`: it is not known what the
   * bucket did, or the bucket is full.
   */
  readonly outcome: "done" | "refused" | "failed" | "aborted";
  readonly seconds: number;
}
