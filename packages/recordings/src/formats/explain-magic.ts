import { type ReasonCode, RecordingError } from "../faults/reasons.ts";
import { createReadContext } from "../reading/read-context.ts";
import { endsWith, type RandomAccessSource } from "../sources/source.ts";
import { fileCompressionOf } from "./compressed-file.ts";
import { allFormats, formats, type RecordingFormat } from "./formats.ts";

/** Answers what is wrong with a file that does not begin with the magic bytes of a recording. */
export async function explainMagic(
  source: RandomAccessSource,
  head: Buffer,
  promised: RecordingFormat | undefined,
): Promise<RecordingError> {
  if (promised && head.equals(promised.magic.subarray(0, head.byteLength))) {
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

const notARecording: Explanation = [
  "NotARecording",
  `the content is neither ${allFormats.map(({ title }) => title).join(" nor ")}`,
];

/** rosbag2 leaves such files in its compression mode FILE, and people pack recordings so. */
function explainCompression(head: Buffer, promised: RecordingFormat = formats.mcap): Explanation | undefined {
  const compression = fileCompressionOf(head);
  if (!compression) return undefined;
  const command = compression.command("FILE", `OUT${promised.extension}`);
  const text = `the file is compressed as a whole with ${compression.name}, and only recordings are read whose chunks are compressed; \`${command}\` opens it`;
  return ["CompressedFile", text];
}

/** Programs that take a recording for a text change its line ends, or put a mark in front of it. */
function explainChange(head: Buffer): Explanation | undefined {
  if (allFormats.some((format) => format.hasChangedEnds(head))) {
    const text =
      "the line ends in the file were changed, as a transfer in text mode does, and with them bytes all over the recording; copy it again in binary mode";
    return ["BadMagic", text];
  }
  if (!head.subarray(0, 3).equals(textMark) || !isStart(head.subarray(3))) return undefined;
  return ["BadMagic", "a byte order mark stands before the recording, as a text editor writes it; copy the file again"];
}

const textMark = Buffer.of(0xef, 0xbb, 0xbf);

function isStart(bytes: Buffer): boolean {
  return allFormats.some(({ magic }) =>
    bytes.subarray(0, magic.byteLength).equals(magic.subarray(0, bytes.byteLength)),
  );
}

async function explainVersion(source: RandomAccessSource, head: Buffer): Promise<Explanation | undefined> {
  for (const format of allFormats) {
    const text = await format.explainVersion(head, source);
    if (text !== undefined) return ["UnsupportedFormat", text];
  }
  return undefined;
}

/** Whether the rest of a file says that it is a recording of this format. It reads a few megabytes at most. */
async function isLike(source: RandomAccessSource, head: Buffer, format: RecordingFormat): Promise<boolean> {
  const { magic, endsWithMagic } = format;
  if (head.every((byte) => byte === 0) || differingBits(head, magic) <= MOST_FLIPPED_BITS) return true;
  if (endsWithMagic && (await endsWith(source, magic))) return true;
  return format.holdsChunk(createReadContext(source));
}

const MOST_FLIPPED_BITS = 4;

function differingBits(head: Buffer, magic: Uint8Array): number {
  let sum = 8 * Math.abs(magic.byteLength - head.byteLength);
  for (const [index, byte] of magic.entries()) {
    for (let bits = byte ^ (head[index] ?? byte); bits > 0; bits &= bits - 1) sum += 1;
  }
  return sum;
}
