/** Bounds that keep memory and time finite on hostile files. */
export interface InspectLimits {
  /** Largest chunk, compressed or not, that is ever read. */
  readonly maxChunkBytes: number;
  /** Largest chunk that is held in memory as a whole, compressed or not. A larger one is read in pieces. */
  readonly maxWholeBytes: number;
  /** Largest part of a chunk, or window of its compression, that is decoded at once where the chunk is only looked at. */
  readonly maxDecodedBytes: number;
  /** Largest schema, channel, metadata or header record. */
  readonly maxRecordBytes: number;
  /** Largest channel, metadata or header record: as texts and maps they take many times their bytes. */
  readonly maxMapBytes: number;
  /** Largest sum of all schemas, channels and metadata records. */
  readonly maxHeldBytes: number;
  /** Largest MCAP summary section that is read whole; a larger one is read in groups or not at all. */
  readonly maxSummaryBytes: number;
  readonly maxChannels: number;
  /** Most attachments, and most metadata records, that a file may have. */
  readonly maxListedRecords: number;
  readonly maxChunks: number;
  /** Most bytes that a full decompression may produce for each byte of the file, above a floor of 16 GiB. */
  readonly maxExpansion: number;
  /**
   * Whether content beyond a limit that is only listed is left out and counted, and the head of a chunk beyond it is believed. Otherwise
   * such content is an error.
   */
  readonly leavesOut: boolean;
}

export const defaultLimits: InspectLimits = {
  maxChunkBytes: 256 * 1024 * 1024,
  maxWholeBytes: 16 * 1024 * 1024,
  maxDecodedBytes: 256 * 1024 * 1024,
  maxRecordBytes: 16 * 1024 * 1024,
  maxMapBytes: 16 * 1024 * 1024,
  maxHeldBytes: 64 * 1024 * 1024,
  maxSummaryBytes: 64 * 1024 * 1024,
  maxChannels: 65_536,
  maxListedRecords: 1_000_000,
  maxChunks: 1_000_000,
  maxExpansion: 1000,
  leavesOut: false,
};

/** These limits are for a look at a file in some 40 MB of memory, whatever the file is. A larger file is still a recording. */
export const leanLimits: InspectLimits = {
  ...defaultLimits,
  maxWholeBytes: 1024 * 1024,
  maxDecodedBytes: 16 * 1024 * 1024,
  maxMapBytes: 1024 * 1024,
  maxHeldBytes: 6 * 1024 * 1024,
  maxSummaryBytes: 4 * 1024 * 1024,
  maxChannels: 8192,
  maxListedRecords: 8192,
  leavesOut: true,
};

/** These limits are for looks at the summaries of several files at once. A larger summary is left to a look with other limits. */
export const summaryLimits: InspectLimits = {
  ...defaultLimits,
  maxRecordBytes: 1024 * 1024,
  maxMapBytes: 256 * 1024,
  maxHeldBytes: 2 * 1024 * 1024,
  maxSummaryBytes: 1024 * 1024,
  maxChannels: 2048,
  maxListedRecords: 1024,
  maxChunks: 16_384,
};
