import { createHash } from "node:crypto";
import {
  type EdgeItem,
  type EdgeSettings,
  edgeLimits,
  type WantedCut,
  type WantedImport,
  type WantedSalvage,
} from "@downlink/protocol";
import { RefusalError } from "./refusal.ts";

/** The work that the cloud wants of the agent, and how long it lets a poll wait. */
interface Wanting {
  readonly requests: ReadonlyMap<string, WantedImport>;
  readonly requestsPerAnswer: number;
  readonly cancelled: ReadonlySet<string>;
  readonly salvages: readonly WantedSalvage[];
  readonly cuts: readonly WantedCut[] | undefined;
  readonly settings: EdgeSettings;
  readonly longPollSeconds: number | undefined;
  readonly longestWaitMs: number;
  readonly incarnation: string;
}

interface Server {
  /** Resolves at the next change of anything, or at the deadline. */
  readonly next: (deadline: AbortSignal) => Promise<unknown>;
  readonly isListening: () => boolean;
}

/** Answers when the work differs from that of `etag`, or when the poll has waited long enough. */
export async function answerWork(
  cloud: Wanting,
  { etag, wait, maxRequests }: { etag?: string; wait: number; maxRequests?: number },
  { next, isListening }: Server,
): Promise<unknown> {
  if (wait > (cloud.longPollSeconds ?? edgeLimits.formerLongPollSeconds)) throw new RefusalError("InvalidRequest");
  const deadline = AbortSignal.timeout(Math.min(wait * 1000, cloud.longestWaitMs));
  const { incarnation } = cloud;
  let answer = readWork(cloud, maxRequests);
  while (answer.etag === etag && cloud.incarnation === incarnation && !deadline.aborted && isListening()) {
    await next(deadline);
    answer = readWork(cloud, maxRequests);
  }
  return answer;
}

/** Reads the most urgent work, where there is more than the agent takes. */
function readWork(cloud: Wanting, maxRequests = Number.POSITIVE_INFINITY) {
  const all = [...cloud.requests.values()].sort((a, b) => b.priority - a.priority);
  const imports = all.slice(0, Math.min(maxRequests, cloud.requestsPerAnswer));
  const part = imports.length < all.length ? { more: true, cancelled: [...cloud.cancelled] } : {};
  const work = { imports, ...part, salvages: cloud.salvages, cuts: cloud.cuts, settings: cloud.settings };
  const text = JSON.stringify(work, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  return { etag: createHash("sha256").update(text).digest("hex"), work };
}

interface LocallyRequested {
  readonly takesLocalRequests: boolean;
  readonly files: ReadonlyMap<string, EdgeItem>;
  readonly requests: ReadonlyMap<string, WantedImport>;
  requestImport(path: string): string;
}

/** Requests the imports that users on the device want, unless they are requested already. */
export function answerLocalRequests(cloud: LocallyRequested, versionIds: readonly string[]): unknown {
  if (!cloud.takesLocalRequests) throw new RefusalError("NotFound");
  const answers = versionIds.map((versionId) => {
    const file = cloud.files.get(versionId);
    const isOpen = [...cloud.requests.values()].some(
      (request) => request.versionId === versionId && request.stage === "deliver",
    );
    if (file && !isOpen) cloud.requestImport(file.path);
    return { versionId, importStatus: file ? "pending" : undefined };
  });
  return { answers };
}
