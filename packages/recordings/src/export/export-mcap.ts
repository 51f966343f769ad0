import { assemble } from "./assemble.ts";
import type { ExportOptions, ExportSource } from "./export-options.ts";
import { type ExportSession, openSession } from "./export-session.ts";
import { findLastMessages } from "./find-last-messages.ts";
import { toTask } from "./load-step.ts";
import type { Loaded } from "./loading.ts";
import { copyAttachment } from "./output/copy-attachment.ts";
import { decideSteps, type Step } from "./plan/decide-steps.ts";
import { feedRuns } from "./plan/feed-runs.ts";
import type { OpenSource } from "./plan/open-source.ts";
import { type AheadLimits, runAhead, type Task } from "./run-ahead.ts";

/**
 * The selected messages of finished recordings as one indexed MCAP file, piece by piece, in order of log time; equal times in
 * the order of the sources, then of the file. spec: wire contract §5
 *
 * A piece of 64 KiB or more has memory of its own, which is the consumer's: whoever is done with it may give it back at once
 * by `piece.buffer.transfer(0)`, which saves waiting for a collection.
 *
 * Throws what reading throws, `RecordingFault` when a source is no finished recording, `ExportFault` when the sources cannot
 * be exported together: what was yielded until then is not a whole file. A damaged chunk is left out and told of.
 */
export async function* exportMcap(
  sources: readonly ExportSource[],
  options: ExportOptions,
): AsyncGenerator<Uint8Array> {
  const within = withinWindow(sources, options);
  await using session = openSession(options, within);
  const { writer, damage, loading } = session;
  const steps = decideSteps(feedRuns(within, session));
  const first = await steps.next();
  yield writer.start(first.done ? "" : profileOf(first.value));
  const loaded = loadAll(first, { steps, sources, session });
  for await (const output of runAhead(assemble(loaded, loading), sealingAhead(session))) {
    options.signal?.throwIfAborted();
    if (output.kind === "chunks") yield* writer.addChunks(output.bytes, output.chunks);
    else yield* writeDescriptions(output.source, session);
  }
  const skipped = damage.toMetadata();
  if (skipped) yield writer.addMetadata(skipped);
  yield* writer.end();
}

const MiB = 1024 * 1024;

/** How much of one export is read and rewritten ahead of the consumer; less where many share the threads. */
function loadingAhead({ loading }: ExportSession): () => AheadLimits {
  return () =>
    loading.lane.laneCount > 2 ? { mostBytes: 2 * MiB, mostTasks: 2 } : { mostBytes: 8 * MiB, mostTasks: 6 };
}

/** The same for what is compressed. */
function sealingAhead({ loading }: ExportSession): () => AheadLimits {
  return () =>
    loading.lane.laneCount > 2 ? { mostBytes: 1 * MiB, mostTasks: 2 } : { mostBytes: 4 * MiB, mostTasks: 4 };
}

/** With their places among the sources. Attachments are wanted whatever the window is. */
function withinWindow(sources: readonly ExportSource[], options: ExportOptions): [number, ExportSource][] {
  const { startNs, endNs, includeAttachments } = options;
  return [...sources.entries()].filter(([, source]) => {
    const isBefore = startNs !== undefined && source.endNs < startNs;
    const isBehind = endNs !== undefined && source.startNs > endNs;
    return includeAttachments || (!isBefore && !isBehind);
  });
}

/** Of several recordings the first one decides: those that belong together agree. */
function profileOf(step: Step): string {
  if (step.kind !== "opened") return "";
  const { survey, format } = step.source;
  return survey.profile ?? (format.name === "bag1" ? "ros1" : "");
}

interface Exporting {
  steps: AsyncGenerator<Step>;
  sources: readonly ExportSource[];
  session: ExportSession;
}

async function* loadAll(first: IteratorResult<Step>, { steps, sources, session }: Exporting): AsyncGenerator<Loaded> {
  const { options, loading, ids } = session;
  if (!first.done && first.value.kind === "opened") yield first.value;
  if (options.lastPerChannel && options.startNs !== undefined) {
    const known = first.value?.kind === "opened" ? [first.value.source] : [];
    yield { kind: "rest", fragment: await findLastMessages({ sources, options, ids, loading, known }) };
  }
  for await (const loaded of runAhead(toTasks(steps, session), loadingAhead(session))) yield* loaded;
}

async function* toTasks(steps: AsyncIterable<Step>, { loading }: ExportSession): AsyncGenerator<Task<Loaded[]>> {
  for await (const step of steps) yield toTask(step, loading);
}

/** Metadata and attachments; the same record of several recordings once. */
async function* writeDescriptions(source: OpenSource, session: ExportSession): AsyncGenerator<Uint8Array> {
  const { writer, options } = session;
  for (const record of source.survey.metadata) if (session.isNewMetadata(record)) yield writer.addMetadata(record);
  if (options.includeAttachments) {
    for (const attachment of source.survey.attachments) yield* copyAttachment(attachment, writer, source.context);
  }
  await source.release();
}
