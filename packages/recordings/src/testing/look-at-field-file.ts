import type { RewritePool } from "../export/rewrite/rewrite-pool.ts";
import { inspectRecording } from "../inspect/inspect.ts";
import { SalvageEmptyError } from "../salvage/salvage-recording.ts";
import { bytesSource } from "../sources/source.ts";
import { readMessages } from "./read-messages.ts";
import { salvage } from "./salvage-bytes.ts";

/** The contents of an `expected.json` about one file. Times are decimal texts of nanoseconds. */
export interface FieldExpectation {
  readonly messages: number;
  readonly topics: Record<string, { count: number; first: string; last: string }>;
  readonly start: string | null;
  readonly end: string | null;
}

/** Parses an `expected.json`, whose times are larger than a `number` can hold. */
export function parseExpectations(text: string): Record<string, FieldExpectation> {
  return JSON.parse(text.replace(/("(?:first|last|start|end)": )(\d+)/g, '$1"$2"')) as Record<string, FieldExpectation>;
}

/** The results of the survey and the salvage of one file. */
export interface FieldLook {
  /** The state, with the code of the reason. */
  readonly state: string;
  readonly surveyed: { count: number; topics: string[]; start: string | undefined; end: string | undefined };
  readonly salvaged: FieldExpectation["topics"];
}

/** Looks at a file as an agent does, and salvages it. */
export async function lookAtFieldFile(bytes: Uint8Array, fileName: string, pool?: RewritePool): Promise<FieldLook> {
  const found = await inspectRecording(bytesSource(bytes), { fileName, salvage: true });
  const state = "reason" in found ? `${found.state} ${found.reason.code}` : found.state;
  return { state, surveyed: surveyedOf(found), salvaged: await salvagedOf(bytes, fileName, pool) };
}

function surveyedOf(found: Awaited<ReturnType<typeof inspectRecording>>): FieldLook["surveyed"] {
  const readable = "salvage" in found ? found.salvage : undefined;
  const about = "summary" in found ? found.summary : readable;
  const topics = about?.topics.map((topic) => (typeof topic === "string" ? topic : topic.topic)) ?? [];
  return {
    count: about?.messageCount ?? 0,
    topics: [...new Set(topics)].sort(),
    start: about?.startNs?.toString(),
    end: about?.endNs?.toString(),
  };
}

async function salvagedOf(
  bytes: Uint8Array,
  fileName: string,
  pool: RewritePool | undefined,
): Promise<FieldExpectation["topics"]> {
  const topics: FieldExpectation["topics"] = {};
  try {
    for (const { topic, logTimeNs } of readMessages(await salvage(bytes, fileName, pool))) {
      const sum = topics[topic] ?? { count: 0, first: `${logTimeNs}`, last: `${logTimeNs}` };
      topics[topic] = sum;
      sum.count += 1;
      if (logTimeNs < BigInt(sum.first)) sum.first = `${logTimeNs}`;
      if (logTimeNs > BigInt(sum.last)) sum.last = `${logTimeNs}`;
    }
  } catch (error) {
    if (!(error instanceof SalvageEmptyError)) throw error;
  }
  return topics;
}
