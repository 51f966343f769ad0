import type { AdoptionPass } from "../../recovery/adoption-pass.ts";
import type { AdoptionDeps } from "./adopt-imported.ts";

const doing: Readonly<Record<AdoptionPass, string>> = {
  ledger: "repeats what was deleted and revoked since the backup",
  listing: "reads which uploads the object store knows",
  imported: "restores recordings from the object store",
  rest: "opens other uploads again",
  rows: "looks for the objects of recordings",
  asking: "waits for --accept-missing, because so many objects are missing that the object store may be the wrong one",
  marking: "marks recordings whose objects are missing",
  over: "has compared everything",
};

/** Returns what an operator must know of the comparison of object store and database, in lines. */
export async function describeWalk({ db }: Pick<AdoptionDeps, "db">): Promise<string[]> {
  const walk = await db.prisma.adoption.findUnique({ where: { id: 1 } });
  if (!walk) return [];
  const { pass, adopted, reopened, doubtful, looked } = walk;
  const missing = await db.prisma.missingObject.count();
  const unverified = await db.prisma.recording.count({ where: { isUnverified: true } });
  return [
    `the comparison of object store and database ${doing[pass]}`,
    `${adopted} recordings restored, ${reopened} uploads opened again, ${doubtful} manifests not understood, ` +
      `${missing} of ${looked} recordings without their object`,
    `${unverified} recordings whose stored bytes were not read again yet`,
  ];
}
