import { type BagConnection, readConnections } from "../bag1/read-connections.ts";
import { EMPTY_MESSAGE_BYTES, RECORD_HEAD_BYTES } from "../mcap/opcodes.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import { freeMemory } from "../memory/free-memory.ts";
import type { Finish, Output } from "./assemble.ts";
import { type ExportSession, openSession } from "./export-session.ts";
import { hugeData } from "./load/large-pieces.ts";
import { orderOutput } from "./order-output.ts";
import { type BagExportOptions, ExportError, type ExportSource } from "./plan/export-options.ts";
import type { OpenSource } from "./plan/planned-source.ts";
import { channelIdAt, endOf, type Fragment } from "./rewrite/fragment.ts";
import { UNWANTED } from "./rewrite/selection.ts";
import type { BagBatch, BagMessages, HugeBagMessage } from "./write-bag/fill-chunks.ts";
import { type MessageOpener, makeDamageMessages, writeBag } from "./write-bag/write-bag.ts";

/**
 * Writes the selected messages of finished bags as one indexed ROS 1 bag, in the same order as `exportMcap`. spec: wire contract §5
 *
 * A bag that is larger than 16 MiB, or a megabyte if many are exported, is made twice, because its head says how long it is. Every message
 * goes through the merge and no chunk is passed on, because connections are numbered again, and index and sizes with them.
 *
 * Throws as `exportMcap` does, `NotABag` if a source is none, and `SourceChangedError` if the sources were not the same the second time. A
 * bag has no place for metadata: damage is reported by a last message, of the topic `/downlink/export` and the type `std_msgs/String`,
 * which only such a bag has.
 */
export function exportBag(sources: readonly ExportSource[], options: BagExportOptions): AsyncGenerator<Uint8Array> {
  let damageMessages: BagMessages | undefined;
  let laneCount = (): number => 1;
  const openMessages: MessageOpener = async function* () {
    const connections = new Map<number, BagConnection>();
    await using session = openSession(sources, options, (source) => addConnections(source, connections));
    laneCount = () => session.loading.lane.laneCount;
    const lastNs = yield* readMessages(session, connections);
    // The first time decides, because which of many damages are named depends on what was read first.
    damageMessages ??= makeDamageMessages(session.damage.toMetadata(), lastNs);
    if (damageMessages) yield damageMessages;
  };
  return writeBag(openMessages, options.compression, () => options.mostHeldBytes ?? heldBytesOf(laneCount()));
}

/** Yields all messages, and then answers the time of the last one. */
async function* readMessages(
  session: ExportSession,
  connections: ReadonlyMap<number, BagConnection>,
): AsyncGenerator<BagBatch, bigint> {
  let lastNs = 0n;
  for await (const output of orderOutput(session, { finish: handOn, mergesAll: true })) {
    if (output.kind === "opened") await output.source.release();
    if (output.kind === "huge") yield toHugeMessage(output, connections);
    if (output.kind === "messages") yield toMessages(output.fragment, connections);
    if (output.kind !== "messages" && output.kind !== "huge") continue;
    const fragment = output.kind === "huge" ? output.head : output.fragment;
    lastNs = fragment.timesNs.at(-1) ?? lastNs;
    freeMemory(fragment.records); // a consumer that asks for the next one has copied them
  }
  return lastNs;
}

/** If there are many exports at once, little of each is held. */
function heldBytesOf(laneCount: number): number {
  if (laneCount <= 2) return 16 * MIB;
  return laneCount <= 4 ? 4 * MIB : MIB;
}

const MIB = 1024 * 1024;

const handOn: Finish = {
  messages: (fragment) => ({ weightBytes: 0, run: async () => ({ kind: "messages", fragment }) }),
  async *huge(run, at, head) {
    yield { kind: "huge", head, open: hugeData(run, at) };
  },
};

/** Adds connections by the ids of the written file, in which equal connections share one id. */
async function addConnections(source: OpenSource, connections: Map<number, BagConnection>): Promise<void> {
  const { formatName, fileName, context, selection } = source;
  if (formatName !== "bag1") throw new ExportError("NotABag", `${fileName} is no ROS 1 bag; export it as MCAP`);
  for (const [channelId, connection] of await readConnections(context)) {
    const id = selection.ids.get(channelId) ?? UNWANTED;
    if (id !== UNWANTED && !connections.has(id)) connections.set(id, connection);
  }
}

function toHugeMessage(
  { head, open }: Output & { kind: "huge" },
  connections: ReadonlyMap<number, BagConnection>,
): HugeBagMessage {
  const { records, timesNs } = head;
  const recordBytes = RECORD_HEAD_BYTES + Number(asBuffer(records).readBigUInt64LE(1));
  const connection = connections.get(channelIdAt(head, 0))!;
  return { connection, logTimeNs: timesNs[0]!, dataBytes: recordBytes - EMPTY_MESSAGE_BYTES, open };
}

function toMessages(fragment: Fragment, connections: ReadonlyMap<number, BagConnection>): BagMessages {
  const { records, starts, timesNs } = fragment;
  return {
    count: starts.length,
    connectionAt: (index) => connections.get(channelIdAt(fragment, starts[index]!))!,
    timesNs,
    bytes: asBuffer(records),
    startAt: (index) => starts[index]! + EMPTY_MESSAGE_BYTES,
    endAt: (index) => endOf(fragment, index),
  };
}
