/** Bounds that keep memory and time finite on hostile files. */
export interface InspectLimits {
  /** Largest chunk, compressed or not, that is ever read. */
  readonly maxChunkBytes: number;
  /** Largest part of a chunk, or window of its compression, that is decoded at once where the chunk is only looked at. */
  readonly maxDecodedBytes: number;
  /** Largest schema, channel, metadata or header record. */
  readonly maxRecordBytes: number;
  /** Largest channel, metadata or header record: as texts and maps they take many times their bytes. */
  readonly maxMapBytes: number;
  /** All schemas, channels and metadata records together. */
  readonly maxHeldBytes: number;
  /** Largest MCAP summary section that is read whole; a larger one is read in groups or not at all. */
  readonly maxSummaryBytes: number;
  readonly maxChannels: number;
  /** Attachments and metadata records: each kind on its own. */
  readonly maxListedRecords: number;
  readonly maxChunks: number;
  /** Bytes that a full decompression may produce for each byte of the file, above a floor of 16 GiB. */
  readonly maxExpansion: number;
  /**
   * What is beyond a limit, and needed for nothing but to be listed, is left out and counted; a chunk is then believed in what its
   * head says. Otherwise it is a fault.
   */
  readonly leavesOut: boolean;
}

export const defaultLimits: InspectLimits = {
  maxChunkBytes: 256 * 1024 * 1024,
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

/** For a look at a file in some 40 MB of memory, whatever the file is: what is larger is still a recording. */
export const leanLimits: InspectLimits = {
  ...defaultLimits,
  maxDecodedBytes: 16 * 1024 * 1024,
  maxMapBytes: 1024 * 1024,
  maxHeldBytes: 6 * 1024 * 1024,
  maxSummaryBytes: 4 * 1024 * 1024,
  maxChannels: 8192,
  maxListedRecords: 8192,
  leavesOut: true,
};

/** For looks at several files at once, at their summaries alone; what is larger is left to a look with other limits. */
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
