import { type Loaded, type Loading, orReport, type RunPart } from "./loading.ts";
import { passRuns } from "./pass-runs.ts";
import type { Step } from "./plan/decide-steps.ts";
import type { PlannedRun } from "./plan/open-source.ts";
import { readRuns, toPart } from "./read-runs.ts";
import { emptyFragment } from "./rewrite/fragment.ts";
import { rewriteRuns } from "./rewrite-runs.ts";
import type { Task } from "./run-ahead.ts";

/** Reads and rewrites what a step names. What is damaged is reported and left out. */
export function toTask(step: Step, loading: Loading): Task<Loaded[]> {
  if (step.kind === "opened") return { weightBytes: 0, run: async () => [step] };
  if (step.kind === "merge") {
    const { run } = step;
    const weightBytes = storedBytesOf(run) + Math.min(run.lengthBytes, loading.memory.shareBytes());
    return { weightBytes, run: async () => [{ kind: "part", run, part: await loadPart(run, 0, loading) }] };
  }
  const { kind, runs } = step;
  const load = kind === "pass" ? passRuns : loadAndRewrite;
  const weightBytes = runs.reduce((sum, run) => sum + storedBytesOf(run) + (kind === "pass" ? 0 : run.lengthBytes), 0);
  return {
    weightBytes,
    async run() {
      const loaded = await load(runs, loading);
      for (const { source } of runs) await source.release();
      return loaded;
    },
  };
}

/** What of a run fits into its share of the memory, but at least one message, after the first `skip`. */
export async function loadPart(run: PlannedRun, skip: number, loading: Loading): Promise<RunPart> {
  const job = await orReport([run], loading, async () => {
    const bytes = await readRuns([run]);
    return { kind: "gather" as const, bytes, part: toPart(run, bytes, 0) };
  });
  if (!job) return nothing;
  const { selection } = run.source;
  const result = await loading.lane.run({ ...job, selection, skip, maxBytes: loading.memory.shareBytes() });
  if (!("damage" in result)) return result;
  await loading.damage.add(run, result.damage);
  return nothing;
}

const nothing: RunPart = { fragment: emptyFragment, hasMore: false };

async function loadAndRewrite(runs: readonly PlannedRun[], loading: Loading): Promise<Loaded[]> {
  const bytes = await orReport(runs, loading, () => readRuns(runs));
  return bytes ? rewriteRuns(runs, bytes, loading) : [];
}

function storedBytesOf({ chunk, lengthBytes }: PlannedRun): number {
  return chunk?.storedBytes ?? lengthBytes;
}
