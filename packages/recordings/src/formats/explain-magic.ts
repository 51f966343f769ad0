import { magic as bagMagic } from "../bag1/records.ts";
import { type ReasonCode, RecordingError } from "../faults/reasons.ts";
import { magic as mcapMagic } from "../mcap/opcodes.ts";
import { createReadContext } from "../reading/read-context.ts";
import type { RandomAccessSource } from "../sources/source.ts";
import type { RecordingFormatName } from "../survey/summary.ts";
import { fileCompressionOf } from "./compressed-file.ts";
import { formats } from "./formats.ts";

export const magics = { mcap: Buffer.from(mcapMagic), bag1: bagMagic } as const;

/** Answers what is wrong with a file that does not begin with the magic bytes of a recording. */
export async function explainMagic(
  source: RandomAccessSource,
  head: Buffer,
  promised: RecordingFormatName | undefined,
): Promise<RecordingError> {
  if (promised && magics[promised].subarray(0, head.byteLength).equals(head)) {
    const text = `the file has only ${source.sizeBytes} bytes: it is still being written, or was cut off`;
    return new RecordingError("NoEnd", text);
  }
  const [code, text] =
    explainCompression(head, promised) ?? explainChange(head) ?? (await explainVersion(source, head)) ?? notARecording;
  if (code !== "NotARecording" || !promised || !(await isLike(source, head, promised)))
    return new RecordingError(code, text);
  return new RecordingError("BadMagic", "the first bytes of the recording are overwritten; the file is damaged there");
}

type Explanation = readonly [ReasonCode, string];

const notARecording: Explanation = ["NotARecording", "the content is neither an MCAP file nor a ROS 1 bag"];

/** rosbag2 leaves such files in its compression mode FILE, and people pack recordings so. */
function explainCompression(head: Buffer, promised: RecordingFormatName | undefined): Explanation | undefined {
  const compression = fileCompressionOf(head);
  if (!compression) return undefined;
  const command = compression.command("FILE", promised === "bag1" ? "OUT.bag" : "OUT.mcap");
  const text = `the file is compressed as a whole with ${compression.name}, and only recordings are read whose chunks are compressed; \`${command}\` opens it`;
  return ["CompressedFile", text];
}

/** Programs that take a recording for a text change its line ends, or put a mark in front of it. */
function explainChange(head: Buffer): Explanation | undefined {
  const isMcap = changedMcapStarts.some((start) => head.subarray(0, start.byteLength).equals(start));
  const isBag = changedBagStarts.some((start) =>
    head.subarray(0, start.byteLength).equals(start.subarray(0, head.byteLength)),
  );
  if (isMcap || isBag) {
    const text =
      "the line ends in the file were changed, as a transfer in text mode does, and with them bytes all over the recording; copy it again in binary mode";
    return ["BadMagic", text];
  }
  if (!head.subarray(0, 3).equals(textMark) || !isStart(head.subarray(3))) return undefined;
  return ["BadMagic", "a byte order mark stands before the recording, as a text editor writes it; copy the file again"];
}

const textMark = Buffer.of(0xef, 0xbb, 0xbf);
const changedMcapStarts = ["\n", "\r\r\n", "\r\u0001"].map((end) =>
  Buffer.concat([magics.mcap.subarray(0, 6), Buffer.from(end)]),
);
const changedBagStarts = ["\r\n", "\r"].map((end) => Buffer.concat([bagMagic.subarray(0, -1), Buffer.from(end)]));

function isStart(bytes: Buffer): boolean {
  return Object.values(magics).some((magic) =>
    magic.subarray(0, bytes.byteLength).equals(bytes.subarray(0, magic.byteLength)),
  );
}

/** A version that the end of the file does not confirm is more likely a flipped bit. */
async function explainVersion(source: RandomAccessSource, head: Buffer): Promise<Explanation | undefined> {
  if (head.subarray(0, 9).equals(bagMagic.subarray(0, 9))) {
    const version = /^1\.\d/.exec(head.subarray(9).toString("latin1"))?.[0];
    if (version === undefined) return undefined;
    const text = `the file is a ROS bag of version ${version}, and only version 2.0 is read; \`rosbag reindex\` of ROS 1 writes it as one`;
    return ["UnsupportedFormat", text];
  }
  const start = head.subarray(0, mcapMagic.byteLength);
  const isMcap =
    start.subarray(0, 5).equals(magics.mcap.subarray(0, 5)) && start.subarray(6).equals(magics.mcap.subarray(6));
  if (!isMcap || !(await endsWith(source, start))) return undefined;
  const version = JSON.stringify(start.subarray(5, 6).toString("latin1"));
  return [
    "UnsupportedFormat",
    `the file is an MCAP file of version ${version}, and only version "0" is read; write it as one`,
  ];
}

/** Whether the rest of a file says that it is a recording of this format. It reads a few megabytes at most. */
async function isLike(source: RandomAccessSource, head: Buffer, format: RecordingFormatName): Promise<boolean> {
  if (head.every((byte) => byte === 0) || differingBits(head, magics[format]) <= MOST_FLIPPED_BITS) return true;
  if (format === "mcap" && (await endsWith(source, magics.mcap))) return true;
  return formats[format].holdsChunk(createReadContext(source));
}

const MOST_FLIPPED_BITS = 4;

function differingBits(head: Buffer, magic: Buffer): number {
  let sum = 8 * Math.abs(magic.byteLength - head.byteLength);
  for (const [index, byte] of magic.entries()) {
    for (let bits = byte ^ (head[index] ?? byte); bits > 0; bits &= bits - 1) sum += 1;
  }
  return sum;
}

async function endsWith(source: RandomAccessSource, end: Buffer): Promise<boolean> {
  const { byteLength } = end;
  if (source.sizeBytes < byteLength) return false;
  return end.equals(await source.read(source.sizeBytes - byteLength, byteLength));
}
