/** Bounds that keep memory and time finite on hostile files. */
export interface InspectLimits {
  /** Largest chunk, compressed or not, that is ever held in memory. */
  maxChunkBytes: number;
  /** Largest schema, channel, metadata or header record. */
  maxRecordBytes: number;
  /** All schemas, channels and metadata records together. */
  maxHeldBytes: number;
  /** Largest MCAP summary section that is read whole; a larger one is read in groups or not at all. */
  maxSummaryBytes: number;
  maxChannels: number;
  /** Attachments, metadata records, and chunks: each kind on its own. */
  maxListedRecords: number;
  /** Bytes that a full decompression may produce for each byte of the file, above a floor of 16 GiB. */
  maxExpansion: number;
}

export const defaultLimits: InspectLimits = {
  maxChunkBytes: 256 * 1024 * 1024,
  maxRecordBytes: 16 * 1024 * 1024,
  maxHeldBytes: 64 * 1024 * 1024,
  maxSummaryBytes: 64 * 1024 * 1024,
  maxChannels: 65_536,
  maxListedRecords: 1_000_000,
  maxExpansion: 1000,
};
