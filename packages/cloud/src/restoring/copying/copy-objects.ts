import { runSomeAtOnce } from "../../core/run-some-at-once.ts";
import { Prisma } from "../../db/generated/client.ts";
import { markDamaged } from "../../import-life/mark-damaged.ts";
import type { Session } from "../../keeping/integrity/listed-objects.ts";
import { pagesOf } from "../../keeping/integrity/suspects.ts";
import type { CopyDeps } from "./copy-deps.ts";
import { type Copied, copyObject, type Planned } from "./copy-object.ts";

const AT_ONCE = 4;

/** The result of a pass over all objects. */
export interface CopiedObjects {
  readonly copied: number;
  readonly damaged: number;
}

/** Whole objects of which no copy was verified. */
const isMissing = Prisma.sql`l."isWhole" AND NOT EXISTS (SELECT FROM "MovedObject" m JOIN held h ON h.key = m.key AND h."isWhole"
  WHERE m.key = l.key AND m."sizeBytes" = l."sizeBytes" AND h."sizeBytes" = l."sizeBytes")`;

const PLAN = Prisma.sql`SELECT l.key, l."sizeBytes",
    EXISTS (SELECT FROM held h WHERE h.key = l.key AND h."isWhole") AS "isHeld",
    (SELECT p.sha256 FROM promised p WHERE p.key = l.key AND p.sha256 IS NOT NULL LIMIT 1) AS promised
  FROM listed l WHERE ${isMissing}`;

const COUNT = Prisma.sql`SELECT count(*)::float8 AS count, coalesce(sum(l."sizeBytes"), 0)::float8 AS bytes
  FROM listed l WHERE ${isMissing}`;

/**
 * Copies what the target lacks, a page after the other, and prints how far it is. `only` is a condition on the rows of `listed l`.
 */
export async function copyObjects(deps: CopyDeps, session: Session, only = Prisma.sql`true`): Promise<CopiedObjects> {
  const [all] = await session.query<{ count: number; bytes: number }>(Prisma.sql`${COUNT} AND ${only}`);
  let [looked, bytes, copied, damaged] = [0, 0, 0, 0];
  for await (const page of pagesOf<Planned>(session, Prisma.sql`${PLAN} AND ${only}`)) {
    const outcomes = await runSomeAtOnce(page, AT_ONCE, (planned) => copyOne(deps, session, planned));
    looked += page.length;
    bytes += page.reduce((sum, { sizeBytes }) => sum + Number(sizeBytes), 0);
    copied += outcomes.filter(({ kind }) => kind === "copied").length;
    damaged += outcomes.filter(({ kind }) => kind === "damaged").length;
    deps.write(`${looked} of ${all!.count} objects, ${toMB(bytes)} of ${toMB(all!.bytes)} MB`);
  }
  return { copied, damaged };
}

async function copyOne(deps: CopyDeps, session: Session, planned: Planned): Promise<Copied> {
  deps.signal.throwIfAborted();
  const outcome = await copyObject(deps, session, planned);
  if (outcome.kind !== "damaged") return outcome;
  await markDamaged(deps, planned.key, "altered");
  deps.write(`DAMAGED ${planned.key}: ${outcome.fault}; it stays in the old store only`);
  return outcome;
}

/** Removes from the target what the source does not have any more, and what broken writes left there. */
export async function removeExtras({ source, target }: CopyDeps, session: Session): Promise<void> {
  const extras = Prisma.sql`SELECT DISTINCT h.key FROM held h
    WHERE NOT h."isWhole" OR NOT EXISTS (SELECT FROM listed l WHERE l.key = h.key AND l."isWhole")`;
  for await (const page of pagesOf<{ key: string }>(session, extras))
    await runSomeAtOnce(page, AT_ONCE, async ({ key }) => {
      if ((await source.stat(key)) && (await target.stat(key))) return;
      await target.delete(key);
    });
}

function toMB(bytes: number): string {
  return Math.ceil(bytes / 1e6).toLocaleString("en-US");
}
