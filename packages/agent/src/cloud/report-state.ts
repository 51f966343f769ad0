/** What the cloud answered to the last hello. */
export interface ReportState {
  /** Undefined until the first hello. */
  needsListing: boolean | undefined;
  /** Counts the hellos; a listing does not survive one. */
  hellos: number;
  /** Of the last report that was sent. Each has its own, also one that says the same again, so that a late one is told from it. */
  sequence: number;
}
