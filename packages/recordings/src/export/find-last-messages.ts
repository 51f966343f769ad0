import type { RawMessage } from "../message-run.ts";
import { ExportFault } from "./export-fault.ts";
import type { ExportSource } from "./export-options.ts";
import type { ExportSession } from "./export-session.ts";
import { type Loading, orReport } from "./loading.ts";
import { type OpenSource, openSource, type PlannedRun } from "./plan/open-source.ts";
import { readRuns, toPart } from "./read-runs.ts";
import type { Fragment } from "./rewrite/fragment.ts";
import { createFragmentBuilder } from "./rewrite/fragment-builder.ts";
import { unwanted } from "./rewrite/select-messages.ts";
import { loadPart } from "./rewrite/stored-part.ts";

/**
 * The latest message of each selected channel before the window, in order of log time. Goes backward through the sources, and
 * ends when every channel that is known by then has its message. `known`: sources of the window that are open already.
 */
export async function findLastMessages(session: ExportSession, known: readonly OpenSource[]): Promise<Fragment> {
  const { sources, options, ids, loading, onOpened } = session;
  const { lookbackNs } = options.lastPerChannel!;
  const endNs = options.startNs! - 1n;
  const startNs = lookbackNs === undefined ? undefined : options.startNs! - lookbackNs;
  const search = createSearch(options.topics ?? []);
  for (const source of known) search.expectChannelsOf(source);
  for (const [index, source] of latestFirst(sources)) {
    if (source.startNs > endNs || (startNs !== undefined && source.endNs < startNs)) continue;
    if (search.isSettled(source.endNs)) break;
    const opening = { index, ids, options: { ...options, startNs, endNs }, isLookback: true, onOpened };
    const opened = await openSource(source, opening);
    try {
      search.expectChannelsOf(opened);
      for (const run of latestRunsFirst(opened, endNs)) await searchRun(run, search, loading);
    } finally {
      await opened.release();
    }
  }
  return search.toFragment();
}

function latestFirst(sources: readonly ExportSource[]): [number, ExportSource][] {
  return Array.from(sources.entries()).sort(([i, a], [j, b]) => compare(b.endNs, a.endNs) || j - i);
}

function latestRunsFirst(source: OpenSource, endNs: bigint): PlannedRun[] {
  const runs: PlannedRun[] = [];
  for (let run = source.runs.take(source); run; run = source.runs.take(source)) runs.push(run);
  return runs.sort((a, b) => compare(lastOf(b, endNs), lastOf(a, endNs)) || b.order - a.order);
}

/** No message before the window is later. */
function lastOf(run: PlannedRun, endNs: bigint): bigint {
  return compare(run.endNs, endNs) < 0 ? run.endNs : endNs;
}

async function searchRun(run: PlannedRun, search: Search, loading: Loading): Promise<void> {
  const { ids, startNs = 0n, endNs } = run.source.selection;
  const lastNs = lastOf(run, endNs!);
  if (run.channelIds.every((id) => search.isFound(ids.get(id)!, lastNs))) return;
  const found = await orReport([run], loading, async () => {
    const latest = new Map<number, LastMessage>();
    const { format, context } = run.source;
    let place = 0;
    const stored = await readRuns([run]);
    const part = toPart(run, stored, 0);
    format.visitMessages(await loadPart(part, stored, context.decompress), part.place, (message) => {
      place += 1;
      const id = ids.get(message.channelId) ?? unwanted;
      const { logTimeNs } = message;
      if (id === unwanted || logTimeNs < startNs || logTimeNs > endNs!) return;
      if (logTimeNs >= (latest.get(id)?.message.logTimeNs ?? 0n)) {
        latest.set(id, { message, order: run.order, place });
      }
    });
    return latest;
  });
  for (const [id, last] of found ?? []) search.add(id, last);
}

interface LastMessage {
  message: RawMessage;
  /** Of the run, then of the message in it: the order of equal times. */
  order: number;
  place: number;
}

type Search = ReturnType<typeof createSearch>;

/** The latest message of each channel so far, by its id in the written file. */
function createSearch(topics: readonly string[]) {
  const missingTopics = new Set(topics);
  const expected = new Set<number>();
  const found = new Map<number, LastMessage>();
  let heldBytes = 0;

  const isFound = (id: number, lastNs: bigint): boolean => {
    const last = found.get(id);
    return last !== undefined && last.message.logTimeNs > lastNs;
  };
  return {
    isFound,
    expectChannelsOf({ survey, selection }: OpenSource): void {
      for (const { id, topic } of survey.channels.values()) {
        missingTopics.delete(topic);
        const writtenId = selection.ids.get(id)!;
        if (writtenId !== unwanted) expected.add(writtenId);
      }
    },
    /** Whether nothing up to `lastNs` can change the answer. */
    isSettled: (lastNs: bigint): boolean =>
      missingTopics.size === 0 && expected.size > 0 && expected.values().every((id) => isFound(id, lastNs)),
    add(id: number, last: LastMessage): void {
      const known = found.get(id);
      if (known && comesAfter(known, last)) return;
      const { message } = last;
      heldBytes += message.data.byteLength - (known?.message.data.byteLength ?? 0);
      if (heldBytes > maxHeldBytes) throw tooLarge();
      found.set(id, { ...last, message: { ...message, data: new Uint8Array(message.data) } });
    },
    toFragment(): Fragment {
      const builder = createFragmentBuilder();
      const inOrder = [...found].sort(([, a], [, b]) => (comesAfter(a, b) ? 1 : -1));
      for (const [id, { message }] of inOrder) builder.addMessage(message, id);
      return builder.take();
    },
  };
}

const maxHeldBytes = 256 * 1024 * 1024;

function comesAfter(a: LastMessage, b: LastMessage): boolean {
  const [aNs, bNs] = [a.message.logTimeNs, b.message.logTimeNs];
  if (aNs !== bNs) return aNs > bNs;
  return a.order === b.order ? a.place > b.place : a.order > b.order;
}

function tooLarge(): ExportFault {
  const text = `the last messages before the window are together larger than ${maxHeldBytes} bytes; select fewer topics`;
  return new ExportFault("LastMessagesTooLarge", text);
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
