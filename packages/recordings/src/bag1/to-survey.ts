import type { ChunkHeader } from "../reading/chunk.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { addChannel, addSchema, type Survey } from "../survey/survey.ts";
import type { BagRecord } from "./record-frame.ts";
import { type Connection, textOf, u32Of } from "./records.ts";

export function addConnection(survey: Survey, connection: Connection, { limits }: ReadContext): void {
  addSchema(survey, connection.schema, limits);
  addChannel(survey, connection.channel, limits);
}

export function toChunk({ header, offset, dataOffset, dataBytes }: BagRecord): ChunkHeader {
  return {
    offset,
    dataOffset,
    storedBytes: dataBytes,
    uncompressedBytes: u32Of(header, "size"),
    compression: textOf(header, "compression"),
    crc: 0,
  };
}
