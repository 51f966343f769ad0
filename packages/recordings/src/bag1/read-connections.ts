import { RecordingError } from "../faults/reasons.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { openWindowReader } from "../reading/window-reader.ts";
import { readBagHeader, readIndexRecord, requireOpcode } from "./bag-index.ts";
import { readData } from "./record-frame.ts";
import { bytesOf, channelIdOf, opcodes } from "./records.ts";

/** A connection byte for byte as its recorder wrote it, without its number. */
export interface BagConnection {
  /** The topic under which its messages are stored. */
  readonly topic: Uint8Array;
  /** The fields of its connection header, each behind its length: type, md5sum, message_definition, callerid, latching, … */
  readonly header: Uint8Array;
}

/** Reads the connections of a finished bag by channel id from its index. Throws as `indexBag` does. */
export async function readConnections(context: ReadContext): Promise<Map<number, BagConnection>> {
  const reader = openWindowReader(context);
  const connections = new Map<number, BagConnection>();
  const head = await readBagHeader(reader, context);
  let offset = head.indexPosition;
  let heldBytes = 0;
  for (let left = head.connectionCount; left > 0; left -= 1) {
    const record = await readIndexRecord(offset, { reader, context });
    requireOpcode(record, opcodes.connection);
    const connection = { topic: bytesOf(record.header, "topic"), header: await readData(record, reader, context) };
    connections.set(channelIdOf(record.header), connection);
    heldBytes += record.end - record.offset;
    refuseMore(heldBytes, context.limits.maxHeldBytes);
    offset = record.end;
  }
  return connections;
}

function refuseMore(heldBytes: number, maxHeldBytes: number): void {
  if (heldBytes <= maxHeldBytes) return;
  throw new RecordingError("TooManyRecords", `the bag's connections together are larger than ${maxHeldBytes} bytes`);
}
