/** What the last hello said about reports, and how far they are. */
export interface ReportState {
  /** Undefined until the first hello. */
  needsListing: boolean | undefined;
  /** The last listing could not be the whole, because cards were unknown. Until another one is, the cloud does not know all files. */
  isListingOpen: boolean;
  /** The number of hellos: a listing ends with the next one. */
  hellos: number;
  /** The number of the last report. Every report has a new one, also when it repeats another, so that a late one is recognized. */
  sequence: number;
}
