import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { bytesSource, type ExportSelection, exportMcap, FileSource, inspectRecording } from "@downlink/recordings";
import { type ReadMessage, readIndexedMessages, readMessages, writeMcapFile } from "@downlink/recordings/testing";
import { buildPeer } from "./build-peer.ts";
import { measurePeer } from "./measure-child.ts";

const program = await buildPeer();
const skip = program === undefined && "the reference in C++ cannot be built here";
const startNs = 1_767_323_045_000_000_000n;
const selections: ExportSelection[] = [
  {},
  { topics: ["/gps"] },
  { topics: ["/imu", "/log", "/camera/front"] },
  { startNs: startNs + 300_000_000n, endNs: startNs + 1_200_000_000n },
  { topics: ["/imu"], startNs: startNs + 500_000_000n, endNs: startNs + 500_000_000n },
];

for (const stored of ["", "lz4", "zstd"] as const) {
  for (const disorderNs of [0n, 200_000_000n]) {
    const from = `${stored || "uncompressed"} chunks that ${disorderNs > 0n ? "overlap" : "are in order"}`;
    test(`the reference in C++ writes what the export writes, message for message, from ${from}`, {
      skip,
    }, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), "downlink-peer-"));
      t.after(() => rm(folder, { recursive: true }));
      const path = join(folder, "from.mcap");
      await writeMcapFile(path, { compression: stored, disorderNs, chunkBytes: 20_000 });
      for (const compression of ["", "lz4", "zstd"] as const)
        for (const selection of selections) await compare({ path, compression, selection });
    });
  }
}

interface Comparison {
  path: string;
  compression: "" | "lz4" | "zstd";
  selection: ExportSelection;
}

async function compare({ path, compression, selection }: Comparison): Promise<void> {
  const { topics, startNs, endNs } = selection;
  const times = { startNs: startNs?.toString(), endNs: endNs?.toString() };
  const to = `${path}.out`;
  const measured = await measurePeer(program!, { from: path, to, compression, topics, ...times });
  const theirs = await readFile(to);
  const ours = readMessages(await exportByUs({ path, compression, selection })).map(withoutId);
  assert.deepEqual(readMessages(theirs).map(withoutId), ours);
  assert.deepEqual((await readIndexedMessages(theirs)).map(withoutId), ours, "its indexes are true");
  assert.deepEqual([measured.messages, measured.bytes], [ours.length, theirs.byteLength]);
  const { state } = await inspectRecording(bytesSource(theirs), { fileName: to, verifyChunks: true });
  assert.equal(state, ours.length > 0 ? "finished" : "empty");
}

async function exportByUs({ path, compression, selection }: Comparison): Promise<Uint8Array> {
  const source = { fileName: path, startNs: 0n, endNs: 2n ** 63n - 1n, open: () => FileSource.open(path) };
  return Buffer.concat(await Array.fromAsync(exportMcap([source], { compression, ...selection })));
}

/** Each writer gives its own ids. */
function withoutId({ channelId: _, ...message }: ReadMessage): Omit<ReadMessage, "channelId"> {
  return message;
}
