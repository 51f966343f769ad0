import type { Deps } from "../../calls/context/context.ts";
import { forgetOldAnswers } from "../../calls/serve/kept-answers.ts";
import { withTransaction } from "../../db/transaction.ts";
import { holdForRemoval } from "../../recovery/held-deployment.ts";
import { forgetOldEntries } from "../../recovery/note-entries.ts";
import {
  forgetAuditEntries,
  forgetSessions,
  forgetTrainingSets,
  forgetUnwantedThumbnails,
  forgetViewLinks,
} from "./forget-rows.ts";
import { DEFAULT_AGE_HOURS, sweep } from "./sweep.ts";
import type { Finding } from "./sweep-objects.ts";

/** At most this many lines of each kind are logged, so that the store of another deployment does not fill the log. */
const MAX_LINES = 100;
const levels = { removed: "info", kept: "warn", failed: "error", missing: "error" } as const;

/** Runs the sweep as a job: the log reports what was found, at the highest level if an object is missing. */
export async function sweepBySchedule(
  {
    db,
    blobs,
    jobs,
    clock,
    log,
    backupRetentionSeconds,
    auditRetentionSeconds,
  }: Pick<Deps, "db" | "blobs" | "jobs" | "clock" | "log" | "backupRetentionSeconds" | "auditRetentionSeconds">,
  signal: AbortSignal,
): Promise<void> {
  const { danger } = await withTransaction(db, holdForRemoval);
  if (danger !== undefined) return log.warn({ danger }, "the store is not swept today");
  const counts = { removed: 0, kept: 0, failed: 0, missing: 0 };
  const nowMs = Number(clock.nowNs() / 1_000_000n);
  const options = { isDryRun: false, olderThanHours: DEFAULT_AGE_HOURS, includesUnknown: false, nowMs, signal };
  for await (const finding of sweep({ db, blobs, jobs, clock }, options)) {
    signal.throwIfAborted();
    counts[finding.outcome] += 1;
    if (counts[finding.outcome] <= MAX_LINES) log[levels[finding.outcome]](finding, describe(finding));
  }
  log.info(counts, "swept the store");
  await forgetOldEntries({ db, blobs }, clock.nowNs() - BigInt(backupRetentionSeconds) * 1_000_000_000n);
  await forgetOldAnswers(db, clock.nowNs());
  await forgetAuditEntries(db, clock.nowNs() - BigInt(auditRetentionSeconds) * 1_000_000_000n);
  await forgetViewLinks(db, clock.nowNs());
  await forgetTrainingSets(db, clock.nowNs());
  await forgetUnwantedThumbnails(db);
  await forgetSessions(db, clock.nowNs());
}

function describe({ outcome, key, reason }: Finding): string {
  return `${outcome === "missing" ? "MISSING object" : `${outcome} leftover object`} ${key}: ${reason}`;
}
