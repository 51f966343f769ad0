import { ApiError } from "../../core/errors.ts";
import type { FoundUploadModel } from "../../db/generated/models.ts";
import { ManifestError } from "../../keeping/manifests/manifest.ts";
import { type AdoptionDeps, type AdoptionOutcome, adoptImported } from "./adopt-imported.ts";
import { type Found, lookUp } from "./look-up.ts";
import { noteStep, type Walk } from "./progress.ts";
import { type ReopenOutcome, reopenUpload } from "./reopen-upload.ts";

/** The result for one upload; `doubtful` means that its manifest is not understood or that its object differs from it. */
type Outcome = AdoptionOutcome | ReopenOutcome | "gone" | "doubtful";
type Treat = (deps: AdoptionDeps, found: Found) => Promise<Outcome>;

/** How many objects are looked up in the store at once. */
const PAGE = 16;

/** Makes uploads recordings again that were recordings, the older ones first. */
export const walkImported = (deps: AdoptionDeps, walk: Walk, signal: AbortSignal) =>
  walkFound(deps, { walk, signal, isImported: true, treat: treatImported });

/** Continues the other uploads where they were. */
export const walkRest = (deps: AdoptionDeps, walk: Walk, signal: AbortSignal) =>
  walkFound(deps, { walk, signal, isImported: false, treat: treatOther });

interface Way {
  readonly walk: Walk;
  readonly signal: AbortSignal;
  readonly isImported: boolean;
  readonly treat: Treat;
}

/** The store is asked for a page at once; the rows are changed one after another, in order. */
async function walkFound(deps: AdoptionDeps, { walk, signal, isImported, treat }: Way): Promise<void> {
  for (let { doneUntil } = walk; ; ) {
    signal.throwIfAborted();
    const page = await deps.db.prisma.foundUpload.findMany({
      where: { isImported, id: { gt: doneUntil } },
      orderBy: { id: "asc" },
      take: PAGE,
    });
    if (page.length === 0) return;
    const found = await Promise.all(page.map((row) => lookUpOrDoubt(deps, row)));
    const outcomes: Outcome[] = [];
    for (const one of found) outcomes.push(one ? await treatOrDoubt(deps, one, treat) : "doubtful");
    const countOf = (...counted: Outcome[]) => outcomes.filter((outcome) => counted.includes(outcome)).length;
    const counts = {
      adopted: countOf("adopted"),
      reopened: countOf("received", "open"),
      doubtful: countOf("doubtful"),
    };
    doneUntil = page.at(-1)!.id;
    await noteStep(deps, walk, { doneUntil, counts });
  }
}

async function lookUpOrDoubt(deps: AdoptionDeps, row: FoundUploadModel): Promise<Found | undefined> {
  try {
    return await lookUp(deps, row);
  } catch (error) {
    if (!(error instanceof ManifestError)) throw error; // the store does not answer, which proves nothing
    deps.log.error({ err: error }, "a manifest in the object store is not understood");
    return undefined;
  }
}

/** An upload that is refused because of its own facts holds up none of the others. */
async function treatOrDoubt(deps: AdoptionDeps, found: Found, treat: Treat): Promise<Outcome> {
  try {
    const outcome = await treat(deps, found);
    deps.log.debug({ uploadId: found.id, outcome }, "looked at an upload of the object store");
    return outcome;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    deps.log.error({ err: error, uploadId: found.id }, "an upload of the object store could not be taken up again");
    return "doubtful";
  }
}

async function treatImported(deps: AdoptionDeps, { id, manifest, sizeBytes, hasIndex }: Found): Promise<Outcome> {
  if (manifest?.kind !== "import" || sizeBytes === undefined) return "gone";
  if (BigInt(sizeBytes) !== manifest.sizeBytes) {
    deps.log.error({ uploadId: id, sizeBytes }, `the object should have ${manifest.sizeBytes} bytes: it is left alone`);
    return "doubtful";
  }
  const outcome = await adoptImported(deps, { manifest, hasIndex });
  // The next pass treats it as a waiting import, which ends like any other.
  if (outcome === "undecided") await deps.db.prisma.foundUpload.update({ where: { id }, data: { isImported: false } });
  return outcome;
}

/** An upload by a link cannot continue: its sender starts over, and needs the request for that. */
async function treatOther(deps: AdoptionDeps, { manifest, sizeBytes, isUnfinished }: Found): Promise<Outcome> {
  if (!manifest) return "gone";
  if (sizeBytes === undefined && !isUnfinished && manifest.source === "salvage") return "gone"; // its job exists, or it was not requested
  return reopenUpload(deps, { manifest, sizeBytes });
}
