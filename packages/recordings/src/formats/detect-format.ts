import { magic as bagMagic } from "../bag1/records.ts";
import { RecordingError } from "../faults/reasons.ts";
import { hasMagic } from "../mcap/mcap-end.ts";
import { magic as mcapMagic } from "../mcap/opcodes.ts";
import type { RandomAccessSource } from "../sources/source.ts";
import type { RecordingFormatName } from "../survey/summary.ts";
import { formats, type RecordingFormat, recordingFormatOf } from "./formats.ts";

/**
 * Finds the format by the content if the name says nothing. A name that contradicts the content is refused, because tools go by names.
 * Throws `EmptyFile`, `NoEnd` (a beginning of magic bytes), `WrongExtension`, `BadMagic` (the start of a recording is overwritten),
 * `UnsupportedFormat` (another version) or `NotARecording`.
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

const titles = { mcap: "an MCAP file", bag1: "a ROS 1 bag" } as const;
const extensions = { mcap: ".mcap", bag1: ".bag" } as const;
const magics = { mcap: Buffer.from(mcapMagic), bag1: bagMagic } as const;

function formatOfMagic(head: Buffer): RecordingFormatName | undefined {
  if (head.subarray(0, mcapMagic.byteLength).equals(magics.mcap)) return "mcap";
  return head.equals(magics.bag1) ? "bag1" : undefined;
}

async function explainMagic(
  source: RandomAccessSource,
  head: Buffer,
  promised: RecordingFormatName | undefined,
): Promise<RecordingError> {
  if (promised && magics[promised].subarray(0, head.byteLength).equals(head)) {
    return new RecordingError(
      "NoEnd",
      `the file has only ${source.sizeBytes} bytes: it is still being written, or was cut off`,
    );
  }
  if (
    head.subarray(0, 5).equals(magics.mcap.subarray(0, 5)) ||
    head.subarray(0, 8).equals(magics.bag1.subarray(0, 8))
  ) {
    const text = "the file is an MCAP file or ROS bag of a version that is not read; convert it to MCAP version 0";
    return new RecordingError("UnsupportedFormat", text);
  }
  if (promised && (head.every((byte) => byte === 0) || (promised === "mcap" && (await hasMcapEnd(source))))) {
    return new RecordingError(
      "BadMagic",
      "the first bytes of the recording are overwritten; the file is damaged there",
    );
  }
  return new RecordingError("NotARecording", "the content is neither an MCAP file nor a ROS 1 bag");
}

async function hasMcapEnd(source: RandomAccessSource): Promise<boolean> {
  const length = mcapMagic.byteLength;
  if (source.sizeBytes < length) return false;
  return hasMagic(await source.read(source.sizeBytes - length, length), 0);
}
