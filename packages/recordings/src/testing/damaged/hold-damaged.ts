import type { RewritePool } from "../../export/rewrite/rewrite-pool.ts";
import { inspectRecording } from "../../inspect/inspect.ts";
import { SalvageEmptyError } from "../../salvage/salvage-recording.ts";
import { bytesSource } from "../../sources/source.ts";
import type { Salvage } from "../../survey/summary.ts";
import { without } from "../odd/content-key.ts";
import { readMessages } from "../read-messages.ts";
import { salvage } from "../salvage-bytes.ts";
import { bodyOf, type DamagedFile, keyOf, topicOf } from "./damaged-file.ts";
import { scanBag } from "./scan-bag.ts";
import { scanMcap } from "./scan-mcap.ts";

const scans = { "run.mcap": scanMcap, "run.bag": scanBag } as const;

/**
 * Compares survey and salvage of a damaged file with a careful scan, and with each other. Answers what is wrong; undefined if the promise is
 * held.
 */
export async function holdDamaged(file: DamagedFile, pool: RewritePool): Promise<string | undefined> {
  const found = await salvagedOf(file, pool);
  const scanned = scans[file.fileName](file.bytes).map(({ key }) => key);
  const inspection = await inspectRecording(bytesSource(file.bytes), { fileName: file.fileName, salvage: true });
  const surveyed = "salvage" in inspection ? inspection.salvage : undefined;
  return (
    findLost(file, found, scanned) ??
    findInvented(file, found, scanned) ??
    (surveyed && (findUnlike(found, surveyed) ?? findRenamed(file, found, { scanned, surveyed })))
  );
}

function findLost(file: DamagedFile, found: readonly string[], scanned: readonly string[]): string | undefined {
  const { originals, mostInvented } = file;
  const right = new Set(found.filter((key) => originals.has(key)).map(bodyOf));
  // Where damage made the scan take a topic for another one, it is right to give the message as it was written.
  const lost = without(scanned, found).filter((key) => originals.has(key) || !right.has(bodyOf(key)));
  const isLost = lost.some((key) => originals.has(key)) || lost.length > mostInvented;
  return isLost
    ? `${lost.length} of ${scanned.length} messages of whole chunks are not salvaged: ${lost[0]!.slice(0, 60)}`
    : undefined;
}

function findInvented({ originals, mostInvented }: DamagedFile, found: readonly string[], scanned: readonly string[]) {
  const invented = without(found.map(bodyOf), [...originals, ...scanned].map(bodyOf));
  return invented.length > mostInvented
    ? `${invented.length} messages were never written: ${invented[0]!.slice(0, 60)}`
    : undefined;
}

/** A wrong topic may be given where the scan finds it, too, where it is said to be a guess, and where no checksum proves another one. */
function findRenamed(
  { originals, mostInvented, isUnchecked }: DamagedFile,
  found: readonly string[],
  { scanned, surveyed }: Compared,
) {
  if (isUnchecked) return undefined;
  const written = new Set([...originals].map(bodyOf));
  const known = new Set([...originals, ...scanned]);
  const renamed = found.filter((key) => !known.has(key) && written.has(bodyOf(key)));
  return renamed.length > (surveyed.damage?.messagesGuessed ?? 0) + mostInvented
    ? `${renamed.length} messages have a topic that they never had: ${renamed[0]!.slice(0, 60)}`
    : undefined;
}

interface Compared {
  readonly scanned: readonly string[];
  readonly surveyed: Salvage;
}

function findUnlike(found: readonly string[], { messageCount, topics }: Salvage): string | undefined {
  if (messageCount !== found.length)
    return `the survey finds ${messageCount} messages, and the salvage ${found.length}`;
  const given = new Set(found.map(topicOf));
  const unlike = [
    ...topics.filter((topic) => !given.has(topic)),
    ...[...given].filter((topic) => !topics.includes(topic)),
  ];
  return unlike.length > 0 ? `survey and salvage do not agree on the topics ${unlike.join(", ")}` : undefined;
}

async function salvagedOf({ bytes, fileName }: DamagedFile, pool: RewritePool): Promise<string[]> {
  try {
    const messages = readMessages(await salvage(bytes, fileName, pool));
    return messages.map(({ topic, logTimeNs, data }) => keyOf(topic, logTimeNs, data));
  } catch (error) {
    if (error instanceof SalvageEmptyError) return [];
    throw error;
  }
}
