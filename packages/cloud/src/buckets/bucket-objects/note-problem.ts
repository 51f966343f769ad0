import type { Deps } from "../../calls/context/context.ts";
import type { SiteWithPolicy } from "./site-with-policy.ts";

type ProblemDeps = Pick<Deps, "db" | "clock" | "log">;

/** Stores why a bucket cannot be read, for the operator. Nothing is known of its objects meanwhile, so nothing else changes. */
export async function noteProblem(
  { db, clock, log }: ProblemDeps,
  site: SiteWithPolicy,
  problem: string,
): Promise<void> {
  const { siteId } = site;
  const { count } = await db.prisma.siteBucket.updateMany({
    where: { siteId, problem: null },
    data: { problem, problemSinceNs: clock.nowNs() },
  });
  if (count === 1) log.warn({ siteId, problem }, "a customer's bucket cannot be read");
  else await db.prisma.siteBucket.updateMany({ where: { siteId }, data: { problem } });
}

/** The bucket answered. */
export async function endProblem(
  { db, log }: Pick<ProblemDeps, "db" | "log">,
  { siteId }: SiteWithPolicy,
): Promise<void> {
  const { count } = await db.prisma.siteBucket.updateMany({
    where: { siteId, problem: { not: null } },
    data: { problem: null, problemSinceNs: null },
  });
  if (count === 1) log.info({ siteId }, "a customer's bucket can be read again");
}
