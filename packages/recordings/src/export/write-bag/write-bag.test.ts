import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RecordingError } from "../../faults/reasons.ts";
import { SourceChangedError } from "../../sources/source.ts";
import { collect } from "../../testing/collect.ts";
import { makeBag } from "../../testing/make-bag.ts";
import { propertyRuns } from "../../testing/property-runs.ts";
import { readBagChunks, readBagsInOrder, topicOf } from "../../testing/read-bag-file.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { requireSoundBag } from "../../testing/require-sound-bag.ts";
import {
  type BagMessage,
  inBatches,
  makeBagMessages,
  makeConnection,
  toColumns,
  writeBagMessages,
} from "../../testing/write-bag-messages.ts";
import type { BagMessages } from "./fill-chunks.ts";
import { writeBag } from "./write-bag.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const START_NS = 1_767_323_045_000_000_000n;
const compressions = ["", "lz4"] as const;

test("any selection of topics and times from any bags is written whole, in order of time, equal times in their order", async () => {
  const sources = await Promise.all([
    makeBag({ isReversed: true, chunkBytes: 3000, durationSeconds: 1 }),
    makeBag({ compression: "none", chunkBytes: 9000, durationSeconds: 1 }),
    makeBag({ startNs: START_NS + 300_000_000n, isReversed: true, compression: "none", durationSeconds: 1 }),
  ]);
  const all = await Promise.all(sources.map((source) => readBagsInOrder(source)));
  const selections = fc.record({
    from: fc.subarray(all, { minLength: 1 }),
    topics: fc.subarray(["/imu", "/status"], { minLength: 1 }),
    first: fc.integer({ min: -10, max: 140 }),
    last: fc.integer({ min: -10, max: 140 }),
    compression: fc.constantFrom(...compressions),
    batchLength: fc.integer({ min: 1, max: 500 }),
    mostHeldBytes: fc.constantFrom(0, 20 * KIB, undefined),
  });
  await fc.assert(
    fc.asyncProperty(selections, async ({ from, topics, first, last, ...options }) => {
      const [fromNs, toNs] = [first, last].map((step) => START_NS + BigInt(step) * 10_000_000n) as [bigint, bigint];
      const selected = from
        .flat()
        .filter((message) => topics.includes(topicOf(message)))
        .filter(({ logTimeNs }) => logTimeNs >= fromNs && logTimeNs <= toNs)
        .sort((a, b) => Number(a.logTimeNs - b.logTimeNs));
      await requireSoundBag(await writeBagMessages(selected, options), selected);
    }),
    { numRuns: propertyRuns(300) },
  );
});

test("a bag is the same, whether its chunks were kept or made a second time", async () => {
  const messages = await readBagsInOrder(await makeBag({ durationSeconds: 60 }));
  for (const compression of compressions) {
    const kept = await writeBagMessages(messages, { compression });
    assert.ok(kept.byteLength > 500_000);
    const again = await writeBagMessages(messages, { compression, mostHeldBytes: 0, batchLength: 7 });
    assert.ok(Buffer.from(again).equals(kept));
  }
});

test("no message is a valid empty bag", async () => {
  for (const compression of compressions) {
    for (const mostHeldBytes of [undefined, 0]) {
      const bag = await writeBagMessages([], { compression, mostHeldBytes });
      assert.equal(bag.byteLength, 4117);
      await requireSoundBag(bag, []);
    }
  }
});

test("connections keep their headers byte for byte, and what is byte-identical is written once", async () => {
  const strange = Buffer.from([...Buffer.from("callerid=/n"), 0xff, 0, 0x3d, 0xfe]);
  const connections = [
    makeConnection("/a"),
    makeConnection("/a", strange),
    makeConnection("/a"),
    makeConnection("/b"),
    makeConnection("/b", "tcp_nodelay=1"),
  ];
  const messages = connections.map((connection, index) => {
    return { connection, logTimeNs: START_NS, data: Buffer.from([index]) };
  });
  const written = (await readBagChunks(await writeBagMessages(messages))).flat();
  for (const [index, { connection, data }] of written.entries()) {
    assert.deepEqual([...data], [index]);
    assert.deepEqual(Buffer.from(connection.topic), connections[index]!.topic);
    assert.deepEqual(Buffer.from(connection.header), connections[index]!.header);
  }
  assert.equal(new Set(written.map(({ connection }) => connection)).size, 4);
  assert.equal(written[0]!.connection, written[2]!.connection);
});

test("chunks are at most 768 KiB large, or hold one message", async () => {
  const sizes = [300 * KIB, 300 * KIB, 300 * KIB, 2 * MIB, 10, 768 * KIB, 0, 10];
  const messages = makeBagMessages(sizes, START_NS);
  for (const compression of compressions) {
    const bag = await writeBagMessages(messages, { compression });
    assert.deepEqual(
      (await readBagChunks(bag)).map((chunk) => chunk.map(({ data }) => data.byteLength)),
      [[300 * KIB, 300 * KIB], [300 * KIB], [2 * MIB], [10], [768 * KIB], [0, 10]],
    );
    await requireSoundBag(bag, messages);
  }
});

test("the head is begun before anything is read, and goes on while a large bag is measured", async () => {
  const messages = makeBagMessages(Array(66).fill(512 * KIB), START_NS);
  let opened = 0;
  const stream = writeBag(() => {
    opened += 1;
    return inBatches(messages, 10);
  }, "");
  const pieces = [(await stream.next()).value!];
  assert.deepEqual([Buffer.from(pieces[0]!.subarray(0, 13)).toString(), opened], ["#ROSBAG V2.0\n", 0]);
  for (let megabytes = 16; megabytes < 33; megabytes += 16) {
    const { value } = await stream.next();
    assert.deepEqual([Buffer.from(value!).toString(), opened], [" ", 1]);
    pieces.push(value!);
  }
  pieces.push(await collect(stream));
  assert.equal(opened, 2);
  await requireSoundBag(Buffer.concat(pieces), messages);
});

test("times that ROS cannot write are refused, the first and last that it can are kept", async () => {
  const [message] = makeBagMessages([5], START_NS) as [BagMessage];
  const last = (2n ** 32n - 1n) * 1_000_000_000n + 999_999_999n;
  const edges = [0n, last].map((logTimeNs) => ({ ...message, logTimeNs }));
  await requireSoundBag(await writeBagMessages(edges), edges);
  for (const logTimeNs of [-1n, last + 1n]) {
    await assert.rejects(writeBagMessages([{ ...message, logTimeNs }]), refusedWith("InvalidTime"));
  }
});

test("messages out of order are refused", async () => {
  await assert.rejects(writeBagMessages(makeBagMessages([5, 5], START_NS).reverse()), /in order of time/);
});

test("a bag whose messages were others the second time gets no index", async () => {
  const messages = makeBagMessages(Array(30).fill(100 * KIB), START_NS);
  const [last] = messages.slice(-1) as [BagMessage];
  const others = [
    messages.slice(1),
    [...messages.slice(0, -1), { ...last, data: Buffer.alloc(5) }],
    [...messages.slice(0, -1), { ...last, connection: makeConnection("/other") }],
  ];
  for (const other of others) {
    const turns = [messages, other];
    await assert.rejects(
      collect(
        writeBag(
          () => inBatches(turns.shift()!, 9),
          "",
          () => 0,
        ),
      ),
      SourceChangedError,
    );
  }
});

test("an error of the source ends the bag", async () => {
  async function* openFailing(): AsyncGenerator<BagMessages> {
    yield toColumns(makeBagMessages(Array(60).fill(100 * KIB), START_NS));
    throw new RecordingError("BadChunk", "the chunk at byte 5 is damaged");
  }
  for (const compression of compressions)
    await assert.rejects(collect(writeBag(openFailing, compression)), RecordingError);
});

test("a reader that goes away closes the source, while the bag is measured as while it is written", async () => {
  const messages = makeBagMessages(Array(60).fill(512 * KIB), START_NS);
  const events: string[] = [];
  async function* openWatched(): AsyncGenerator<BagMessages> {
    events.push("opened");
    try {
      yield* inBatches(messages, 1);
    } finally {
      events.push("closed");
    }
  }
  const leaveAfterPieces = async (count: number): Promise<string[]> => {
    events.length = 0;
    const stream = writeBag(openWatched, "");
    for (let left = count; left > 0; left -= 1) await stream.next();
    await stream.return(undefined);
    return [...events];
  };
  assert.deepEqual(await leaveAfterPieces(1), []);
  assert.deepEqual(await leaveAfterPieces(2), ["opened", "closed"]);
  assert.deepEqual(await leaveAfterPieces(5), ["opened", "closed", "opened", "closed"]);
});
