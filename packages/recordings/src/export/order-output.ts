import { assemble, type Finish, type Output } from "./assemble.ts";
import type { ExportSession } from "./export-session.ts";
import { findLastMessages } from "./find-last-messages.ts";
import type { Loaded } from "./load/load-run.ts";
import { toTask } from "./load/load-step.ts";
import { type AheadLimits, runAhead, type Task } from "./load/run-ahead.ts";
import { decideSteps, feedRuns, type Step } from "./plan/decide-steps.ts";

export interface Ordering {
  readonly finish: Finish;
  /** Whether every run goes through `finish`, so that no chunk is passed on or rewritten alone. */
  readonly mergesAll: boolean;
}

/** Yields everything that goes into the written file, in its order. The first is a source, if one lies in the window. */
export async function* orderOutput(session: ExportSession, ordering: Ordering): AsyncGenerator<Output> {
  const { loading, options } = session;
  const steps = decideSteps(feedRuns(session.within, session), ordering);
  const outputs = assemble(loadAll(steps, session), loading, ordering.finish);
  for await (const output of runAhead(outputs, finishingAhead(session))) {
    options.signal?.throwIfAborted();
    yield output;
  }
}

const MIB = 1024 * 1024;

/** How much of one export is read and rewritten ahead of the consumer. */
function loadingAhead({ loading: { lane } }: ExportSession): () => AheadLimits {
  return () => shareOf(lane.laneCount, { mostBytes: 8 * MIB, mostTasks: 6 });
}

/** How much of one export is compressed ahead of the consumer. */
function finishingAhead({ loading: { lane } }: ExportSession): () => AheadLimits {
  return () => shareOf(lane.laneCount, { mostBytes: 4 * MIB, mostTasks: 4 });
}

/** If there are many exports, little of each keeps the threads busy. */
function shareOf(laneCount: number, whole: AheadLimits): AheadLimits {
  if (laneCount <= 2) return whole;
  return laneCount <= 4 ? { mostBytes: 2 * MIB, mostTasks: 2 } : { mostBytes: MIB, mostTasks: 1 };
}

async function* loadAll(steps: AsyncGenerator<Step>, session: ExportSession): AsyncGenerator<Loaded> {
  const { options, loading } = session;
  const first = await steps.next();
  const opened = first.value?.kind === "opened" ? first.value : undefined;
  if (opened) yield opened;
  if (options.lastPerChannel && options.startNs !== undefined) {
    yield { kind: "rest", fragment: await findLastMessages(session) };
  }
  for await (const loaded of runAhead(toTasks(steps, loading), loadingAhead(session))) yield* loaded;
}

async function* toTasks(steps: AsyncIterable<Step>, loading: ExportSession["loading"]): AsyncGenerator<Task<Loaded[]>> {
  for await (const step of steps) yield toTask(step, loading);
}
