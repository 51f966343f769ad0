/**
 * Why a file is not a finished, readable recording. Closed: callers may switch over it.
 *
 * - `NotARecording` the content has no known magic bytes
 * - `CompressedFile` the file is compressed as a whole
 * - `UnsupportedFormat` a recording in a version that is not read (ROS bag 1.x, another MCAP major version)
 * - `WrongExtension` a recording of another format than its name says
 * - `EmptyFile` zero bytes
 * - `NoEnd` truncated, or still being written
 * - `ActiveBag` a ROS 1 bag whose index was never written
 * - `BadMagic` the first bytes were overwritten, the end is there
 * - `BadFooter` the end is there but does not describe the file
 * - `BadSummary` the summary section (MCAP) or the index (bag) is corrupt
 * - `BadRecord` a record outside chunks cannot be parsed
 * - `BadChunk` a chunk does not decompress, fails its checksum or contradicts its header
 * - `ChunkTooLarge`, `RecordTooLarge` above the limit that keeps memory bounded
 * - `ExpandsTooMuch` all chunks together decompress to implausibly more than the file holds
 * - `UnknownCompression` a chunk names a compression that is not read
 * - `TooManyChannels`, `TooManyRecords` above the limit that keeps memory bounded
 * - `LengthBeyondFile` a record says it is longer than the rest of the file
 * - `InvalidTime` a time that does not fit into signed 64-bit nanoseconds
 */
export type ReasonCode =
  | "NotARecording"
  | "CompressedFile"
  | "UnsupportedFormat"
  | "WrongExtension"
  | "EmptyFile"
  | "NoEnd"
  | "ActiveBag"
  | "BadMagic"
  | "BadFooter"
  | "BadSummary"
  | "BadRecord"
  | "BadChunk"
  | "ChunkTooLarge"
  | "RecordTooLarge"
  | "ExpandsTooMuch"
  | "UnknownCompression"
  | "TooManyChannels"
  | "TooManyRecords"
  | "LengthBeyondFile"
  | "InvalidTime";

export interface Reason {
  readonly code: ReasonCode;
  /** One or two sentences for a person: what, at which byte, and what they can do. */
  readonly text: string;
}

/** The content of a recording is not what it should be. I/O errors and aborts are never of this class. */
export class RecordingError extends Error {
  readonly reason: Reason;

  constructor(code: ReasonCode, text: string) {
    super(text);
    this.name = "RecordingError";
    this.reason = { code, text };
  }
}

/** A schema or channel is defined again, and not as before: one of the definitions is damaged, or the file holds several recordings. */
export class DefinedTwiceError extends RecordingError {
  constructor(what: string) {
    super("BadRecord", `${what} is defined twice, differently`);
    this.name = "DefinedTwiceError";
  }
}

/** The state in which an inspection ends for a reason. */
export function stateOf(code: ReasonCode): "incomplete" | "damaged" | "unsupported" {
  if (incompleteCodes.has(code)) return "incomplete";
  return unsupportedCodes.has(code) ? "unsupported" : "damaged";
}

const incompleteCodes: ReadonlySet<ReasonCode> = new Set(["EmptyFile", "NoEnd", "ActiveBag"]);
const unsupportedCodes: ReadonlySet<ReasonCode> = new Set([
  "NotARecording",
  "CompressedFile",
  "UnsupportedFormat",
  "WrongExtension",
]);

/** Incomplete and damaged files can be salvaged, also of another version as far as it is like the known one; empty files and other things cannot. */
const isSalvageable: Readonly<Record<ReasonCode, boolean>> = {
  NotARecording: false,
  CompressedFile: false,
  UnsupportedFormat: true,
  WrongExtension: false,
  EmptyFile: false,
  NoEnd: true,
  ActiveBag: true,
  BadMagic: true,
  BadFooter: true,
  BadSummary: true,
  BadRecord: true,
  BadChunk: true,
  ChunkTooLarge: true,
  RecordTooLarge: true,
  ExpandsTooMuch: true,
  UnknownCompression: true,
  TooManyChannels: true,
  TooManyRecords: true,
  LengthBeyondFile: true,
  InvalidTime: true,
};

/** Says whether a file that was refused with this code may hold messages that a salvage can read. Codes of other failures are none. */
export function maySalvage(code: string): boolean {
  return Object.hasOwn(isSalvageable, code) && isSalvageable[code as ReasonCode];
}
