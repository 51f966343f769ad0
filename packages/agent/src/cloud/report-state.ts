/** What the last hello said about reports, and how far they are. */
export interface ReportState {
  /** Undefined until the first hello. */
  needsListing: boolean | undefined;
  /** The number of hellos: a listing ends with the next one. */
  hellos: number;
  /** The number of the last report. Every report has a new one, also when it repeats another, so that a late one is recognized. */
  sequence: number;
}
