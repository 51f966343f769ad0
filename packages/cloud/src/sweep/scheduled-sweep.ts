import type { Deps } from "../context/context.ts";
import { forgetOldAnswers } from "../http/kept-answers.ts";
import { forgetViewLinks } from "./forget-view-links.ts";
import { DEFAULT_AGE_HOURS, sweep } from "./sweep.ts";
import type { Finding } from "./sweep-objects.ts";

/** So many lines of each kind are logged, so that the store of another deployment does not fill the log. */
const MAX_LINES = 100;
const levels = { removed: "info", kept: "warn", failed: "error", missing: "error" } as const;

/** The sweep as a job: the log says what was found, loudest where an object is missing. */
export async function sweepBySchedule(
  { db, blobs, clock, log }: Pick<Deps, "db" | "blobs" | "clock" | "log">,
  signal: AbortSignal,
): Promise<void> {
  const counts = { removed: 0, kept: 0, failed: 0, missing: 0 };
  const nowMs = Number(clock.nowNs() / 1_000_000n);
  const options = { isDryRun: false, olderThanHours: DEFAULT_AGE_HOURS, includesUnknown: false, nowMs };
  for await (const finding of sweep({ db, blobs }, options)) {
    signal.throwIfAborted();
    counts[finding.outcome] += 1;
    if (counts[finding.outcome] <= MAX_LINES) log[levels[finding.outcome]](finding, tell(finding));
  }
  log.info(counts, "swept the store");
  await forgetOldAnswers(db, clock.nowNs());
  await forgetViewLinks(db, clock.nowNs());
}

function tell({ outcome, key, reason }: Finding): string {
  return `${outcome === "missing" ? "MISSING object" : `${outcome} leftover object`} ${key}: ${reason}`;
}
