import { RecordingError } from "../faults/reasons.ts";
import { createReadContext } from "../reading/read-context.ts";
import type { RandomAccessSource } from "../sources/source.ts";
import { explainMagic } from "./explain-magic.ts";
import { allFormats, formats, type RecordingFormat, recordingFormatOf } from "./formats.ts";

/**
 * Finds the format by the content if the name says nothing. A name that contradicts the content is refused, because tools go by names.
 * Throws `EmptyFile`, `NoEnd` (a beginning of magic bytes), `WrongExtension`, `BadMagic` (the start of a recording is overwritten),
 * `CompressedFile`, `UnsupportedFormat` (another version) or `NotARecording`.
 */
export async function detectFormat(source: RandomAccessSource, fileName: string): Promise<RecordingFormat> {
  const promised = promisedBy(fileName);
  if (source.sizeBytes === 0) {
    throw new RecordingError(
      "EmptyFile",
      "the file has no bytes: its recorder has not written yet, or was stopped before it could",
    );
  }
  const head = Buffer.from(await source.read(0, Math.min(source.sizeBytes, HEAD_BYTES)));
  const actual = formatOfMagic(head);
  if (actual && promised && actual !== promised) {
    const text = `the file is named as ${promised.title} but its content is ${actual.title}; rename it to end in ${actual.extension}`;
    throw new RecordingError("WrongExtension", text);
  }
  if (actual) return actual;
  throw await explainMagic(source, head, promised);
}

/** Finds the format also if only the first bytes are damaged: it is then the one that the name promises. Throws as {@link detectFormat} does. */
export async function detectByName(source: RandomAccessSource, fileName: string): Promise<RecordingFormat> {
  try {
    return await detectFormat(source, fileName);
  } catch (error) {
    const promised = promisedBy(fileName);
    if (promised && error instanceof RecordingError && error.reason.code === "BadMagic") return promised;
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
    const promised = promisedBy(fileName);
    for (const format of promised ? [promised] : allFormats)
      if (await format.holdsChunk(createReadContext(source))) return format;
    throw error;
  }
}

const mayHold: ReadonlySet<string> = new Set(["BadMagic", "UnsupportedFormat", "NotARecording"]);

function promisedBy(fileName: string): RecordingFormat | undefined {
  const name = recordingFormatOf(fileName);
  return name && formats[name];
}

const HEAD_BYTES = Math.max(...allFormats.map(({ magic }) => magic.byteLength));

function formatOfMagic(head: Buffer): RecordingFormat | undefined {
  return allFormats.find(({ magic }) => head.subarray(0, magic.byteLength).equals(magic));
}
