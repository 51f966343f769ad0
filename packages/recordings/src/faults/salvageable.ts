import type { ReasonCode } from "./reasons.ts";

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
