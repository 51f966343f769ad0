import { api, edgeLimits, type PermitAnswer } from "@downlink/protocol";
import type { ServerClock } from "../cloud/server-clock.ts";
import type { CloudSession } from "../cloud/session.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import type { Clock } from "../system/clock.ts";
import type { DeletionStep } from "./plan-deletions.ts";
import type { Proofs } from "./proofs.ts";

export interface Permits {
  readonly answers: ReadonlyMap<string, PermitAnswer>;
  /** Whether granted permits may still be used. */
  isGood(): boolean;
}

interface PermitContext {
  readonly session: CloudSession;
  readonly serverClock: ServerClock;
  readonly proofs: Proofs;
  readonly clock: Clock;
  /** Whether the cloud, in its present incarnation, knows all that is here. */
  readonly isListed: () => boolean;
}

/** Asks the cloud for permits; fails as the client does. */
export async function askPermits(
  { session, serverClock, proofs, clock, isListed }: PermitContext,
  wanted: readonly { readonly file: TrackedFile; readonly step: DeletionStep }[],
  signal: AbortSignal,
): Promise<Permits> {
  const askedMs = clock.uptimeMs();
  const items = wanted.map(({ file, step: { versionId, reason } }) => ({
    versionId,
    reason,
    sha256: proofs.hashOf(file),
  }));
  const { serverTime, answers } = await session.call(api.edge.askPermits, { items }, { signal });
  serverClock.note(serverTime);
  return {
    answers: new Map(answers.map((answer) => [answer.versionId, answer])),
    isGood: () => clock.uptimeMs() - askedMs < edgeLimits.permitUseSeconds * 1000 && isListed(),
  };
}
