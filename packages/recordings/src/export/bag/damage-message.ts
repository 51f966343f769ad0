import type { MetadataRecord } from "../../survey/summary.ts";
import type { BagMessage } from "./fill-chunks.ts";
import { encodeFields, u32 } from "./record-bytes.ts";

/** What an MCAP file tells in a metadata record, as a message of the type `std_msgs/String` that holds JSON. */
export function makeDamageMessage(record: MetadataRecord | undefined, logTimeNs: bigint): BagMessage | undefined {
  if (!record) return undefined;
  const text = Buffer.from(JSON.stringify(record.metadata));
  return { connection: damageConnection, logTimeNs, data: Buffer.concat([u32(text.byteLength), text]) };
}

const topic = Buffer.from("/downlink/export");

const damageConnection = {
  topic,
  header: encodeFields({
    topic,
    type: Buffer.from("std_msgs/String"),
    md5sum: Buffer.from("992ce8a1687cec8c8bd883ec73ca41d1"),
    message_definition: Buffer.from("string data\n"),
  }),
};
