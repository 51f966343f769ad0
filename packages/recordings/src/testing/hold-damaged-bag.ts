import type { RewritePool } from "../export/rewrite/rewrite-pool.ts";
import { inspectRecording } from "../inspect/inspect.ts";
import { SalvageEmptyError } from "../salvage/salvage-recording.ts";
import { bytesSource } from "../sources/source.ts";
import type { DamagedBag } from "./damage-bag.ts";
import { readMessages } from "./read-messages.ts";
import { salvage } from "./salvage-bytes.ts";
import { keyOf, scanBag } from "./slow-bag-reader.ts";

/** Compares survey and salvage of a damaged bag with a careful scan. Answers what is wrong; undefined if the promise is held. */
export async function holdDamagedBag(bag: DamagedBag, pool: RewritePool): Promise<string | undefined> {
  const found = await salvagedOf(bag.bytes, pool);
  const scanned = scanBag(bag.bytes);
  const right = found.filter((key) => bag.originals.has(key)).map(bodyOf);
  const lost = missing(
    scanned.map(({ key }) => key),
    found,
    // Where the magic of a joined bag is lost, the scan takes its connections for those of the bag before it, which have the same numbers.
  ).filter((key) => bag.originals.has(key) || !right.includes(bodyOf(key)));
  if (lost.length > 0)
    return `${lost.length} of ${scanned.length} messages of whole chunks are not salvaged: ${lost[0]!.slice(0, 60)}`;
  // Where nothing has a checksum, a damaged byte may stand in a message that is framed well. A place damages one message so.
  const invented = missing(found, [...bag.originals, ...scanned.map(({ key }) => key)]);
  if (invented.length > 4 * bag.damages.length)
    return `${invented.length} messages were never written: ${invented[0]!.slice(0, 60)}`;
  const inspection = await inspectRecording(bytesSource(bag.bytes), { fileName: "run.bag", salvage: true });
  if (!("salvage" in inspection) || !inspection.salvage) return undefined;
  const { messageCount } = inspection.salvage;
  return messageCount < found.length
    ? `the survey finds ${messageCount} messages, and the salvage ${found.length}`
    : undefined;
}

async function salvagedOf(bytes: Uint8Array, pool: RewritePool): Promise<string[]> {
  try {
    const messages = readMessages(await salvage(bytes, "run.bag", pool));
    return messages.map(({ topic, logTimeNs, data }) => keyOf(topic, logTimeNs, data));
  } catch (error) {
    if (error instanceof SalvageEmptyError) return [];
    throw error;
  }
}

/** The key of a message without its topic. */
function bodyOf(key: string): string {
  return key.slice(key.indexOf(" "));
}

/** Those of a list that another one does not hold. */
function missing(list: readonly string[], held: readonly string[]): string[] {
  const all = new Set(held);
  return list.filter((each) => !all.has(each));
}
