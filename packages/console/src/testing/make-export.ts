import { McapWriter } from "@mcap/core";

export interface ExportedTopic {
  readonly topic: string;
  readonly messageEncoding: string;
  readonly schemaEncoding: string;
  readonly schemaName: string;
  readonly schema: Uint8Array;
  readonly messages: readonly ExportedMessage[];
}

export interface ExportedMessage {
  readonly logTimeNs: bigint;
  readonly data: Uint8Array;
}

/** Makes the stream of the control plane for `compressionFormat: ""`, by an independent library. */
export async function makeExport(topics: readonly ExportedTopic[]): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  const write = async (bytes: Uint8Array) => {
    pieces.push(bytes.slice());
    sizeBytes += bytes.byteLength;
  };
  const writer = new McapWriter({ writable: { position: () => BigInt(sizeBytes), write } });
  await writer.start({ profile: "", library: "downlink fixtures" });
  for (const { topic, messageEncoding, messages, ...about } of topics) {
    const schema = { name: about.schemaName, encoding: about.schemaEncoding, data: about.schema };
    const schemaId = about.schemaEncoding === "" ? 0 : await writer.registerSchema(schema);
    const channelId = await writer.registerChannel({ schemaId, topic, messageEncoding, metadata: new Map() });
    for (const [sequence, { logTimeNs, data }] of messages.entries()) {
      await writer.addMessage({ channelId, sequence, logTime: logTimeNs, publishTime: logTimeNs, data });
    }
  }
  await writer.end();
  return new Uint8Array(Buffer.concat(pieces));
}

/** Returns the bytes in pieces of this size, as a network might bring them. */
export function streamOf(bytes: Uint8Array, pieceBytes = 65_536): ReadableStream<Uint8Array> & { pulled: number } {
  let at = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    stream.pulled = at;
    if (at >= bytes.byteLength) return controller.close();
    controller.enqueue(bytes.slice(at, at + pieceBytes));
    at += pieceBytes;
  };
  const stream = Object.assign(new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 }), { pulled: 0 });
  return stream;
}
