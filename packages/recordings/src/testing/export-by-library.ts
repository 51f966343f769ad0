import { open } from "node:fs/promises";
import { McapIndexedReader, McapWriter } from "@mcap/core";
import { compressWith } from "./make-mcap.ts";
import { decompressHandlers } from "./read-messages.ts";

export interface LibraryExport {
  readonly from: string;
  readonly to: string;
  readonly compression: "" | "lz4" | "zstd";
  readonly topics?: readonly string[];
  readonly startNs?: bigint;
  readonly endNs?: bigint;
}

/** Exports a part of a file as users of the MCAP library write it: the reference of the benchmarks. */
export async function exportByLibrary({ from, to, compression, topics, startNs, endNs }: LibraryExport): Promise<void> {
  await using source = await open(from);
  await using target = await open(to, "w");
  const { size } = await source.stat();
  const readable = {
    size: async () => BigInt(size),
    async read(offset: bigint, length: bigint) {
      const bytes = new Uint8Array(Number(length));
      await source.read(bytes, 0, bytes.byteLength, Number(offset));
      return bytes;
    },
  };
  let position = 0n;
  const writable = {
    position: () => position,
    async write(bytes: Uint8Array) {
      position += BigInt(bytes.byteLength);
      await target.write(bytes);
    },
  };
  const reader = await McapIndexedReader.Initialize({ readable, decompressHandlers });
  const writer = new McapWriter({
    writable,
    compressChunk: compression === "" ? undefined : compressWith(compression),
  });
  await writer.start({ profile: "", library: "" });
  const channelIds = await registerChannels(reader, writer);
  for await (const message of reader.readMessages({ topics, startTime: startNs, endTime: endNs })) {
    await writer.addMessage({ ...message, channelId: channelIds.get(message.channelId)! });
  }
  await writer.end();
}

async function registerChannels(reader: McapIndexedReader, writer: McapWriter): Promise<Map<number, number>> {
  const schemaIds = new Map<number, number>([[0, 0]]);
  for (const [id, schema] of reader.schemasById) schemaIds.set(id, await writer.registerSchema(schema));
  const channelIds = new Map<number, number>();
  for (const [id, channel] of reader.channelsById) {
    channelIds.set(id, await writer.registerChannel({ ...channel, schemaId: schemaIds.get(channel.schemaId)! }));
  }
  return channelIds;
}
