import { createHash } from "node:crypto";
import type { BagConnection } from "../../bag1/read-connections.ts";
import { opcodes } from "../../bag1/records.ts";
import { encodeRecord, u8, u32 } from "./record-bytes.ts";

/** Numbers the connections of the written bag in order of their first message: what is byte-identical gets one number. */
export interface ConnectionTable {
  /** `newRecord` is the connection's record, when this is its first message in the bag; it must precede the message. */
  introduce(connection: BagConnection): { id: number; newRecord?: Buffer };
  /** In order of their numbers. */
  readonly records: readonly Buffer[];
}

export function createConnectionTable(): ConnectionTable {
  const known = new Map<BagConnection, { id: number }>();
  const idsByContent = new Map<string, number>();
  const records: Buffer[] = [];

  const introduceObject = (connection: BagConnection): { id: number; newRecord?: Buffer } => {
    const content = createHash("sha256").update(encodeConnection(connection, 0)).digest("base64");
    const id = idsByContent.get(content) ?? records.length;
    known.set(connection, { id });
    if (id < records.length) return { id };
    idsByContent.set(content, id);
    const newRecord = encodeConnection(connection, id);
    records.push(newRecord);
    return { id, newRecord };
  };

  return { introduce: (connection) => known.get(connection) ?? introduceObject(connection), records };
}

function encodeConnection({ topic, header }: BagConnection, id: number): Buffer {
  return encodeRecord({ op: u8(opcodes.connection), topic, conn: u32(id) }, header);
}
