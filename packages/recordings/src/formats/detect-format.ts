import { magic as bagMagic } from "../bag1/records.ts";
import { RecordingError } from "../faults/reasons.ts";
import { createReadContext } from "../reading/read-context.ts";
import type { RandomAccessSource } from "../sources/source.ts";
import type { RecordingFormatName } from "../survey/summary.ts";
import { explainMagic, magics } from "./explain-magic.ts";
import { formats, type RecordingFormat, recordingFormatOf } from "./formats.ts";

/**
 * Finds the format by the content if the name says nothing. A name that contradicts the content is refused, because tools go by names.
 * Throws `EmptyFile`, `NoEnd` (a beginning of magic bytes), `WrongExtension`, `BadMagic` (the start of a recording is overwritten),
 * `CompressedFile`, `UnsupportedFormat` (another version) or `NotARecording`.
 */
export async function detectFormat(source: RandomAccessSource, fileName: string): Promise<RecordingFormat> {
  const promised = recordingFormatOf(fileName);
  if (source.sizeBytes === 0) {
    throw new RecordingError(
      "EmptyFile",
      "the file has no bytes: its recorder has not written yet, or was stopped before it could",
    );
  }
  const head = Buffer.from(await source.read(0, Math.min(source.sizeBytes, bagMagic.byteLength)));
  const actual = formatOfMagic(head);
  if (actual && promised && actual !== promised) {
    const text = `the file is named as ${titles[promised]} but its content is ${titles[actual]}; rename it to end in ${extensions[actual]}`;
    throw new RecordingError("WrongExtension", text);
  }
  if (actual) return formats[actual];
  throw await explainMagic(source, head, promised);
}

/** Finds the format also if only the first bytes are damaged: it is then the one that the name promises. Throws as {@link detectFormat} does. */
export async function detectByName(source: RandomAccessSource, fileName: string): Promise<RecordingFormat> {
  try {
    return await detectFormat(source, fileName);
  } catch (error) {
    const promised = recordingFormatOf(fileName);
    if (promised && error instanceof RecordingError && error.reason.code === "BadMagic") return formats[promised];
    throw error;
  }
}

/**
 * Finds the format in which a damaged file is read: whatever its first bytes are, if the rest is of the format that its name promises, or,
 * where the name says nothing, of any. Throws as {@link detectFormat} does.
 */
export async function detectDamaged(source: RandomAccessSource, fileName: string): Promise<RecordingFormat> {
  try {
    return await detectByName(source, fileName);
  } catch (error) {
    if (!(error instanceof RecordingError) || !mayHold.has(error.reason.code)) throw error;
    const promised = recordingFormatOf(fileName);
    for (const name of promised ? [promised] : (["mcap", "bag1"] as const))
      if (await formats[name].holdsChunk(createReadContext(source))) return formats[name];
    throw error;
  }
}

const mayHold: ReadonlySet<string> = new Set(["BadMagic", "UnsupportedFormat", "NotARecording"]);

const titles = { mcap: "an MCAP file", bag1: "a ROS 1 bag" } as const;
const extensions = { mcap: ".mcap", bag1: ".bag" } as const;

function formatOfMagic(head: Buffer): RecordingFormatName | undefined {
  if (head.subarray(0, magics.mcap.byteLength).equals(magics.mcap)) return "mcap";
  return head.equals(magics.bag1) ? "bag1" : undefined;
}
