import type { RecordingFormat } from "@downlink/protocol";

/** Advice on the code of a failed import, for the person who has to act on it. */
export interface Advice {
  readonly title: string;
  /** Whether processing the same bytes again can end otherwise, and why. */
  readonly retry: "helps" | "useless" | "afterwards";
  readonly next: string;
  /** Whether the readable part of the file can become a recording of its own. */
  readonly isSalvageable: boolean;
}

const cut = (title: string): Advice => ({
  title,
  retry: "useless",
  next: "Salvage what is readable, or upload the whole file.",
  isSalvageable: true,
});
const damaged = (title: string): Advice => ({
  title,
  retry: "useless",
  next: "Salvage what is readable, or upload an intact copy.",
  isSalvageable: true,
});
/** How the formats are called, with their articles. */
const formatTitles: Readonly<Record<RecordingFormat, string>> = { mcap: "an MCAP", bag1: "a ROS 1 bag" };
const foreign = (title: string): Advice => ({
  title,
  retry: "useless",
  next: `Check the file: it must be ${Object.values(formatTitles).join(" or ")}, with the matching file extension.`,
  isSalvageable: false,
});
const unkept = (title: string, next: string): Advice => ({ title, retry: "useless", next, isSalvageable: false });
const tooMuch = (title: string): Advice => ({
  title,
  retry: "useless",
  next: "Salvage what is readable, or record in smaller pieces.",
  isSalvageable: true,
});
const place = (title: string, next: string): Advice => ({ title, retry: "afterwards", next, isSalvageable: false });
const passing = (title: string, next: string): Advice => ({ title, retry: "helps", next, isSalvageable: false });

const ADVICE: Readonly<Record<string, Advice>> = {
  NoEnd: cut("Incomplete: the file has no end"),
  ActiveBag: cut("Incomplete: the bag's index was never written"),
  BadMagic: damaged("Damaged: the first bytes are overwritten"),
  BadFooter: damaged("Damaged: the end does not describe the file"),
  BadSummary: damaged("Damaged: the summary cannot be read"),
  BadRecord: damaged("Damaged: a record cannot be read"),
  BadChunk: damaged("Damaged: a chunk cannot be read"),
  LengthBeyondFile: damaged("Damaged: a record is longer than the file"),
  InvalidTime: damaged("Damaged: a time is impossible"),
  UnknownCompression: damaged("A compression that is not supported"),
  ChunkTooLarge: tooMuch("Too large: a chunk"),
  RecordTooLarge: tooMuch("Too large: a record"),
  ExpandsTooMuch: tooMuch("Too large: the chunks expand implausibly"),
  TooManyChannels: tooMuch("Too many channels"),
  TooManyRecords: tooMuch("Too many records"),
  NameTooLong: unkept("A name is too long", "Record with shorter names of topics and schemas."),
  MetadataTooLarge: unkept("Too large: the metadata", "Record large data as attachments or messages."),
  TooManyAttachments: unkept("Too many attachments", "Record in smaller pieces."),
  NotARecording: foreign("No recording"),
  CompressedFile: {
    ...foreign("A file that is compressed as a whole"),
    next: "Decompress it with the command that its failure names, and upload what comes out.",
  },
  UnsupportedFormat: {
    ...foreign("A format version that is not supported"),
    next: "Salvage what can be read, or convert the file.",
    isSalvageable: true,
  },
  WrongExtension: foreign("A recording with the file extension of another format"),
  EmptyFile: { ...foreign("An empty file"), next: "It has no content: record or upload it again." },
  EmptyRecording: { ...foreign("A recording without a message"), next: "It has no content: there is nothing to do." },
  SalvageEmpty: { ...foreign("Nothing could be salvaged"), next: "Not one message can be read." },
  DuplicateContent: {
    title: "The same content is imported already",
    retry: "afterwards",
    next: "The recording that has it is the one to use. A retry imports this one only after the data of that one was deleted.",
    isSalvageable: false,
  },
  KeyTaken: place("Its key belongs to another recording", "Delete the other recording, or upload under another key."),
  DeviceNotFound: place("Its device is not there", "Add the device, then retry."),
  ProjectNotFound: place("Its project is not there", "Name another project for the upload."),
  SessionNotFound: place("Its session is not there", "Create the session, then retry."),
  ContentMismatch: passing("The bytes differ from those on the device", "A retry asks the device once more."),
  ObjectMissing: passing("The stored file is gone", "A retry asks the device for it, where it still is."),
  ObjectTruncated: passing("The stored file was cut", "A retry asks the device for it, where it still is."),
  ObjectAltered: passing("The stored file was altered", "A retry asks the device for it, where it still is."),
  IndexingFailed: passing("Reading the file failed each time", "Look into the server's log, then retry."),
  TooHeavy: passing("Reading the file took too much memory", "Give the worker more memory, then retry."),
};

export function hasAdvice(code: string): boolean {
  return Object.hasOwn(ADVICE, code);
}

/** Returns the advice for a code, also for one that is not known here. */
export function adviceOn(code: string): Advice {
  if (hasAdvice(code)) return ADVICE[code]!;
  return { title: reasonTitle(code), retry: "helps", next: "Correct the cause, then retry.", isSalvageable: false };
}

/** Returns words for a code of the address, of a failure or of what an import waits for: `Device offline` for `DeviceOffline`. */
export function reasonTitle(code: string): string {
  if (hasAdvice(code)) return ADVICE[code]!.title;
  const words = code.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words || "Failed";
}

const RETRIES: Readonly<Record<Advice["retry"], string>> = {
  helps: "A retry can help.",
  useless: "A retry reads the same bytes and fails again.",
  afterwards: "A retry helps after that.",
};

export function retryText({ retry }: Advice): string {
  return RETRIES[retry];
}
