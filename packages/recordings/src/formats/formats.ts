import { indexBag } from "../bag1/bag-index.ts";
import { explainBagVersion, hasChangedBagEnds } from "../bag1/explain-start.ts";
import { holdsBagChunk } from "../bag1/find-bag-chunk.ts";
import { inspectBag, inspectBagSummary } from "../bag1/inspect-bag.ts";
import { readBagHead, sizeOfBagRecord, visitBagMessages } from "../bag1/record-layout.ts";
import { magic as bagMagic } from "../bag1/records.ts";
import { verifyBag } from "../bag1/verify-bag.ts";
import type { Reason } from "../faults/reasons.ts";
import { explainMcapVersion, hasChangedMcapEnds } from "../mcap/explain-start.ts";
import { inspectMcap, inspectMcapSummary, requireMcapEnd } from "../mcap/inspect-mcap.ts";
import { magic as mcapMagic } from "../mcap/opcodes.ts";
import { readMcapHead, sizeOfMcapRecord } from "../mcap/record-layout.ts";
import { holdsMcapChunk } from "../mcap/resync-mcap.ts";
import { verifyMcap } from "../mcap/verify-mcap.ts";
import type { ReadContext } from "../reading/read-context.ts";
import type { RecordLayout } from "../reading/record-layout.ts";
import type { RandomAccessSource } from "../sources/source.ts";
import type { RecordingFormatName, RecordingSummary } from "../survey/summary.ts";
import type { Survey } from "../survey/survey.ts";
import type { Verifying } from "../verified/verifying.ts";

/**
 * The parts that a format must offer. Readers of recordings know formats only through this; `export/` also writes MCAP and bags, and
 * holds messages as records of MCAP.
 *
 * We read both formats ourselves, not by `McapIndexedReader` and `@foxglove/rosbag`: the first silently gives nothing without chunk
 * indexes, the second loses messages of unsorted chunks, and neither bounds what a hostile file makes it allocate. The tests compare our
 * readers with theirs.
 */
export interface RecordingFormat<Name extends string = RecordingFormatName> {
  readonly name: Name;
  /** The kind of its files as a text names them, with an article. */
  readonly title: string;
  /** The ending of their names, in small letters. */
  readonly extension: `.${string}`;
  /** The first bytes of each file. */
  readonly magic: Uint8Array;
  /** Whether a file ends with the same bytes. */
  readonly endsWithMagic: boolean;
  /** The profile of an MCAP file that is exported of a recording that names none. */
  readonly profile: string;
  /** Whether a file begins as one of this format does whose line ends a program changed that took it for a text. */
  hasChangedEnds(head: Buffer): boolean;
  /** Answers what is wrong with a file that begins as another version of the format does. */
  explainVersion(head: Buffer, source: RandomAccessSource): Promise<string | undefined> | string | undefined;
  /**
   * Surveys a recording that has its end. Throws a code that means incomplete if it has none. `doubt`: why a recording in which no message was
   * found may have had some.
   */
  inspect(context: ReadContext): Promise<{ survey: Survey; method: RecordingSummary["method"]; doubt?: Reason }>;
  /** Surveys a recording by a summary of about a megabyte at most. Answers undefined if the summary does not say everything. */
  inspectSummary(context: ReadContext): Promise<Survey | undefined>;
  /** Checks the end of the file only, which is cheap. Throws if it is not sound. */
  requireEnd(context: ReadContext): Promise<unknown>;
  /**
   * Reads all of a recording once and in order. Throws if it cannot be given whole, except in a salvage: it takes what makes sense, and notes
   * the rest as damage. Answers where another recording begins in the same file, which only a salvage comes to, or where the file ends.
   */
  verify(verifying: Verifying): Promise<number>;
  /** Whether a chunk of this format stands in the first megabyte, whatever the first bytes of the file are. */
  holdsChunk(context: ReadContext): Promise<boolean>;
  /** How exports read the records of the runs that `verify` adds. Threads use it, too. */
  readonly records: RecordLayout;
}

export const formats: { readonly [Name in RecordingFormatName]: RecordingFormat<Name> } = {
  mcap: {
    name: "mcap",
    title: "an MCAP file",
    extension: ".mcap",
    magic: mcapMagic,
    endsWithMagic: true,
    profile: "",
    hasChangedEnds: hasChangedMcapEnds,
    explainVersion: explainMcapVersion,
    inspect: inspectMcap,
    inspectSummary: inspectMcapSummary,
    verify: verifyMcap,
    requireEnd: requireMcapEnd,
    holdsChunk: holdsMcapChunk,
    records: { sizeAt: sizeOfMcapRecord, readHead: readMcapHead },
  },
  bag1: {
    name: "bag1",
    title: "a ROS 1 bag",
    extension: ".bag",
    magic: bagMagic,
    endsWithMagic: false,
    profile: "ros1",
    hasChangedEnds: hasChangedBagEnds,
    explainVersion: explainBagVersion,
    inspect: inspectBag,
    inspectSummary: inspectBagSummary,
    verify: verifyBag,
    requireEnd: indexBag,
    holdsChunk: holdsBagChunk,
    records: { sizeAt: sizeOfBagRecord, readHead: readBagHead, visitMessages: visitBagMessages },
  },
};

export const allFormats: readonly RecordingFormat[] = Object.values(formats);

/** The format that a file's name promises. A trailing `.active` (still being recorded) does not count. */
export function recordingFormatOf(fileName: string): RecordingFormatName | undefined {
  const name = fileName.toLowerCase().replace(/\.active$/, "");
  return allFormats.find(({ extension }) => name.endsWith(extension))?.name;
}

/** The endings of the names of recordings, each with its dot. */
export const recordingExtensions: readonly string[] = allFormats.map(({ extension }) => extension);

export function extensionOf(format: RecordingFormatName): string {
  return formats[format].extension;
}

/** Answers a file's name without the endings of recordings, and without `.active`. */
export function nameWithoutExtension(fileName: string): string {
  const lower = fileName.toLowerCase();
  const ending = [...recordingExtensions, ".active"].find((each) => lower.endsWith(each));
  return ending === undefined ? fileName : nameWithoutExtension(fileName.slice(0, -ending.length));
}
