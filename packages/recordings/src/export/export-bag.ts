import { type BagConnection, readConnections } from "../bag1/read-connections.ts";
import { emptyMessageBytes } from "../mcap/opcodes.ts";
import { makeDamageMessage } from "./bag/damage-message.ts";
import type { BagMessage } from "./bag/fill-chunks.ts";
import { type MessageOpener, writeBag } from "./bag/write-bag.ts";
import { ExportFault } from "./export-fault.ts";
import type { BagExportOptions, ExportSource } from "./export-options.ts";
import { openSession } from "./export-session.ts";
import { orderOutput } from "./order-output.ts";
import type { OpenSource } from "./plan/open-source.ts";
import { channelIdAt, endOf, type Fragment } from "./rewrite/fragment.ts";
import { unwanted } from "./rewrite/selection.ts";

/**
 * The selected messages of finished bags as one indexed ROS 1 bag, in the same order as `exportMcap`. spec: wire contract §5
 *
 * A bag that is larger than 16 MiB is made twice, because its head tells how long it is. Throws as `exportMcap` does, `NotABag` when
 * a source is none, `SourceChangedError` when the sources were not the same the second time. A bag has no place for
 * metadata: damage is told by a last message, of the topic `/downlink/export`.
 */
export function exportBag(sources: readonly ExportSource[], options: BagExportOptions): AsyncGenerator<Uint8Array> {
  let damageMessage: BagMessage | undefined;
  const openMessages: MessageOpener = async function* () {
    const connections = new Map<number, BagConnection>();
    await using session = openSession(sources, options, (source) => addConnections(source, connections));
    let lastNs = 0n;
    const ordering = { finish: handOn, mergesAll: true };
    for await (const output of orderOutput(session, ordering)) {
      if (output.kind === "opened") await output.source.release();
      if (output.kind !== "messages") continue;
      yield toMessages(output.fragment, connections);
      lastNs = output.fragment.timesNs.at(-1) ?? lastNs;
    }
    // The first time decides: which of many damages are named depends on what was read first.
    damageMessage ??= makeDamageMessage(session.damage.toMetadata(), lastNs);
    if (damageMessage) yield [damageMessage];
  };
  return writeBag(openMessages, options.compression, options.mostHeldBytes);
}

function handOn(fragment: Fragment) {
  return { weightBytes: 0, run: async () => ({ kind: "messages" as const, fragment }) };
}

/** By the ids of the written file: connections that are the same have one. */
async function addConnections(source: OpenSource, connections: Map<number, BagConnection>): Promise<void> {
  const { formatName, fileName, context, selection } = source;
  if (formatName !== "bag1") throw new ExportFault("NotABag", `${fileName} is no ROS 1 bag; export it as MCAP`);
  for (const [channelId, connection] of await readConnections(context)) {
    const id = selection.ids.get(channelId) ?? unwanted;
    if (id !== unwanted && !connections.has(id)) connections.set(id, connection);
  }
}

function toMessages(fragment: Fragment, connections: ReadonlyMap<number, BagConnection>): BagMessage[] {
  const { records, starts, timesNs } = fragment;
  return Array.from(starts, (start, index) => ({
    connection: connections.get(channelIdAt(fragment, start))!,
    logTimeNs: timesNs[index]!,
    data: records.subarray(start + emptyMessageBytes, endOf(fragment, index)),
  }));
}
