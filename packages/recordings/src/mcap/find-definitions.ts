import { RecordingError } from "../faults/reasons.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import { begunNameOf, decodePieces } from "../reading/begun-chunk.ts";
import type { ChunkHeader } from "../reading/chunk.ts";
import { openCursor } from "../reading/field-cursor.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { streamRange } from "../reading/stream-range.ts";
import { addChannel, addSchema, type Survey } from "../survey/survey.ts";
import { trusts } from "../survey/trust.ts";
import { opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import { readDamagedChannel, readSchema } from "./records.ts";

/** The content of a chunk that cannot be read as a whole, or any bytes of the file. */
export type Unread = Pick<ChunkHeader, "compression" | "dataOffset">;

/**
 * Finds the schemas and channels in what cannot be read as a whole: the messages of sound chunks may need them. They are found by their
 * heads, if their fields fill them. They are trusted less than all others. Only the first megabytes are searched.
 */
export async function findDefinitions(
  unread: Unread,
  end: number,
  { context, survey }: { context: ReadContext; survey: Survey },
): Promise<void> {
  const bytes = asBuffer(await readStart(unread, end, context));
  survey.trust = trusts.refuted;
  for (let at = 0; at + RECORD_HEAD_BYTES <= bytes.byteLength; at += 1) {
    const opcode = bytes[at]!;
    if ((opcode !== opcodes.schema && opcode !== opcodes.channel) || bytes.readUInt32LE(at + 5) !== 0) continue;
    const from = at + RECORD_HEAD_BYTES;
    const to = from + bytes.readUInt32LE(at + 1);
    if (to > bytes.byteLength || to - from > context.limits.maxMapBytes) continue;
    if (take(opcode, bytes.subarray(from, to), { context, survey })) at = to - 1;
  }
}

/** Answers false if the content is not that of a schema or channel. */
function take(opcode: number, content: Uint8Array, { context, survey }: { context: ReadContext; survey: Survey }) {
  const cursor = openCursor(content, "a record");
  try {
    const definition = opcode === opcodes.schema ? readSchema(cursor) : readDamagedChannel(cursor);
    if (cursor.position !== content.byteLength) return false;
    if ("data" in definition) addSchema(survey, definition, context.limits);
    else addChannel(survey, definition, context.limits);
    return true;
  } catch (error) {
    if (error instanceof RecordingError) return false;
    throw error;
  }
}

async function readStart({ compression, dataOffset }: Unread, end: number, context: ReadContext): Promise<Uint8Array> {
  const name = begunNameOf(compression);
  const storedBytes = Math.min(end - dataOffset, MOST_BYTES);
  if (storedBytes <= 0 || name === undefined) return new Uint8Array(0);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  const stored = streamRange(context, dataOffset, storedBytes);
  const { maxDecodedBytes: mostBytes } = context.limits;
  for await (const piece of decodePieces(stored, { compression: name, mostBytes, context })) {
    pieces.push(piece);
    bytes += piece.byteLength;
    if (bytes >= MOST_BYTES) break;
  }
  return Buffer.concat(pieces);
}

const MOST_BYTES = 4 * 1024 * 1024;
