/** The reporting that the last hello asked for, and how far it is. */
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
