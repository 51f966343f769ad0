import { setTimeout as delay } from "node:timers/promises";
import { api, type LakeFileReport, type Output, siteLimits } from "@downlink/protocol";
import { ExportError, RecordingError } from "@downlink/recordings";
import { removeLake } from "./lake-store.ts";
import type { SiteSession } from "./site-session.ts";
import { type LakeDeps, LakeDiffersError, type WantedLake, writeLake } from "./write-lake.ts";

/** How often making them may fail for reasons that may pass. */
const MOST_TRIES = 12;
/** Files that took long to make are reported for so long, while the control plane is away. */
const MOST_REPORTS = 60;
const REPORT_AGAIN_MS = 10_000;
const MOST_TEXT = 2000;

/** Makes and reports the files by topic of an import, and removes those that are not needed. Throws if it can be tried again later. */
export async function makeLake(
  deps: LakeDeps,
  session: SiteSession,
  { tries, ...wanted }: WantedLake & { readonly tries: number },
): Promise<void> {
  const { importId } = wanted;
  // A process that stood still while another one took its lease is refused here, before it touches what that one has made.
  const { unneededLakes } = await session.call(api.site.report, { lakes: [importId] });
  if (unneededLakes.includes(importId)) return removeLake(deps.blobs, importId);
  try {
    const files = await writeLake(deps, wanted);
    const { state, refusal } = await reportPatiently(deps, session, { importId, files });
    if (state === "listed") return;
    if (state === "refused") deps.log.error({ importId }, `files by topic were refused: ${refusal}`);
    await removeLake(deps.blobs, importId);
  } catch (error) {
    const text = toRefusal(error, tries);
    if (text === undefined) throw error;
    deps.log.error({ err: error, importId }, "no files by topic can be made of an import");
    await removeLake(deps.blobs, importId);
    await session.call(api.site.report, { lakesRefused: [{ importId, text: text.slice(0, MOST_TEXT) }] });
  }
}

function toRefusal(error: unknown, tries: number): string | undefined {
  if (error instanceof ExportError) return `${error.code}: ${error.message}`;
  if (error instanceof RecordingError) return `${error.reason.code}: ${error.reason.text}`;
  if (error instanceof LakeDiffersError || tries >= MOST_TRIES) return (error as Error).message;
  return undefined;
}

interface Made {
  readonly importId: string;
  readonly files: readonly LakeFileReport[];
}

type Answer = Output<typeof api.site.lakeFiles>;

async function reportPatiently({ stopping, log }: LakeDeps, session: SiteSession, made: Made): Promise<Answer> {
  for (let reports = 1; ; reports++) {
    try {
      return await reportAll(session, made);
    } catch (error) {
      if (reports === MOST_REPORTS || stopping.aborted) throw error;
      log.warn({ err: error, importId: made.importId }, "files by topic are reported again");
      await delay(REPORT_AGAIN_MS, undefined, { signal: stopping });
    }
  }
}

async function reportAll(session: SiteSession, { importId, files }: Made): Promise<Answer> {
  const pages = Math.max(1, Math.ceil(files.length / siteLimits.itemsPerList));
  for (let number = 1; ; number++) {
    const page = files.slice((number - 1) * siteLimits.itemsPerList, number * siteLimits.itemsPerList);
    const isLast = number === pages;
    const answer = await session.call(api.site.lakeFiles, { importId, number, isLast, files: page });
    if (isLast || answer.state !== "reporting") return answer;
  }
}
