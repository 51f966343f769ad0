import { setImmediate } from "node:timers/promises";
import { compileGlobs } from "@downlink/protocol/globs";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import type { StateFacts } from "../state/state-facts.ts";

/**
 * Which files are imported without a request. The report of each file says so, and not a call of its own: so it converges like
 * everything that is reported, and only the cloud knows whether anybody ever requested the recording.
 */
export interface AutoImport {
  matches(path: string): boolean;
  /** Makes files due for a report that match since the globs changed. */
  reportAgain(): Promise<void>;
}

export interface AutoImportContext {
  readonly inventory: Inventory;
  readonly facts: StateFacts;
  readonly problems: Pick<ProblemBoard, "raise" | "clear">;
  /** The globs of this moment: the device's own, otherwise those of the control plane. */
  readonly globs: () => readonly string[];
}

const STEPS_PER_COMMIT = 2000;
/** The longest globs on the longest paths take some milliseconds each. */
const PATHS_PER_TURN = 50;

export function createAutoImport({ inventory, facts, problems, globs }: AutoImportContext): AutoImport {
  let known:
    | { readonly source: readonly string[]; readonly text: string; readonly compiled: CompiledGlobs }
    | undefined;
  const current = () => {
    const source = globs();
    if (known?.source === source) return known;
    const text = JSON.stringify(source);
    known = { source, text, compiled: known?.text === text ? known.compiled : compileAutoImport(source) };
    const { refusal } = known.compiled;
    if (refusal === undefined) problems.clear("CloudSettingUnusable");
    else problems.raise("CloudSettingUnusable", `autoImport: ${refusal}`);
    return known;
  };
  return {
    matches: (path) => current().compiled.matches(path),
    async reportAgain() {
      const { text, compiled } = current();
      if (compiled.refusal !== undefined || (facts.reportedAutoImport() ?? NONE) === text) return;
      const files = inventory
        .files()
        .filter(({ reportedAs }) => reportedAs === "indexed")
        .toArray();
      const meant = await filterInTurns(files, ({ path }) => compiled.matches(path));
      for (let at = 0; at < meant.length; at += STEPS_PER_COMMIT) {
        const batch = meant.slice(at, at + STEPS_PER_COMMIT);
        inventory.change(batch.map(({ versionId }) => ({ do: "reportAgain", versionId })));
        await setImmediate();
      }
      facts.noteReportedAutoImport(text); // It comes last, so that a crash before it repeats the reports.
    },
  };
}

const NONE = "[]";

async function filterInTurns(
  files: readonly TrackedFile[],
  isMeant: (file: TrackedFile) => boolean,
): Promise<TrackedFile[]> {
  const meant: TrackedFile[] = [];
  for (let at = 0; at < files.length; at += PATHS_PER_TURN) {
    meant.push(...files.slice(at, at + PATHS_PER_TURN).filter(isMeant));
    await setImmediate();
  }
  return meant;
}

interface CompiledGlobs {
  readonly matches: (path: string) => boolean;
  /** Why nothing matches. */
  readonly refusal?: string;
}

/** Globs of the control plane that this agent does not understand match nothing; the device's own were checked at the start. */
export function compileAutoImport(globs: readonly string[]): CompiledGlobs {
  try {
    return { matches: compileGlobs(globs) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { matches: () => false, refusal: error.message };
  }
}
