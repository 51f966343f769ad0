import type { ExportSession } from "./export-session.ts";
import { bytesOfRun, isLarge, type Loading, toStored } from "./load/load-run.ts";
import { ExportFault, type ExportSource } from "./plan/export-options.ts";
import { openSource } from "./plan/open-source.ts";
import type { OpenSource, PlannedRun } from "./plan/planned-source.ts";
import { channelIdAt, createFragmentBuilder, endOf, type Fragment } from "./rewrite/fragment.ts";
import { unwanted } from "./rewrite/selection.ts";

/**
 * The latest message of each selected channel before the window, in order of log time. Goes backward through the sources, and ends when
 * no earlier one can have a channel that is not found: its `topicKeys` say which it has.
 */
export async function findLastMessages(session: ExportSession): Promise<Fragment> {
  const { sources, options, ids, loading, onOpened } = session;
  const { lookbackNs } = options.lastPerChannel!;
  const endNs = options.startNs! - 1n;
  const startNs = lookbackNs === undefined ? undefined : options.startNs! - lookbackNs;
  const search = createSearch(options.topics ?? []);
  for (const [index, source] of latestFirst(sources)) {
    if (source.startNs > endNs || (startNs !== undefined && source.endNs < startNs)) continue;
    if (search.canAddNothing(source)) continue;
    // Of damage before the window nobody is told: it is not what was asked for.
    const about = { index, ids, lane: loading.largeLane, damage: undefined, onOpened };
    const opened = await openSource(source, { ...about, options: { ...options, startNs, endNs } });
    try {
      for (const run of latestRunsFirst(opened, endNs)) await searchRun(run, search, loading);
      search.noteTopics(source, opened);
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
function lastOf({ endNs: runEndNs }: { endNs: bigint }, endNs: bigint): bigint {
  return runEndNs < endNs ? runEndNs : endNs;
}

async function searchRun(run: PlannedRun, search: Search, { lane, hold }: Loading): Promise<void> {
  const { source } = run;
  const { ids, startNs = 0n, endNs } = source.selection;
  const mayHold = (await source.channelsOf(run)).some((channel) => {
    const id = ids.get(channel.channelId) ?? unwanted;
    const isInReach = id !== unwanted && channel.startNs <= endNs! && channel.endNs >= startNs;
    return isInReach && !search.isFound(id, lastOf(channel, endNs!));
  });
  if (!mayHold) return;
  using _turn = isLarge(run) ? await hold(run.lengthBytes + run.storedBytes) : undefined;
  const from = await bytesOfRun(run);
  const latest = await lane.run({ kind: "latest", from, run: toStored(run), selection: source.selection.sent });
  for (let place = 0; place < latest.starts.length; place += 1) search.add(latest, place, run.order);
}

interface LastMessage {
  /** Its record. */
  bytes: Uint8Array;
  timeNs: bigint;
  /** Of the run, then of the message in it: the order of equal times. */
  order: number;
  place: number;
}

type Search = ReturnType<typeof createSearch>;

/** The latest message of each channel so far, by its id in the written file. */
function createSearch(topics: readonly string[]) {
  const wanted = new Set(topics);
  const found = new Map<number, LastMessage>();
  /** By topic and key: the channels that every source with that key has. */
  const channelsOfKeys = new Map<string, number[]>();
  let heldBytes = 0;

  const isFound = (id: number, lastNs: bigint): boolean => {
    const last = found.get(id);
    return last !== undefined && last.timeNs > lastNs;
  };
  return {
    isFound,
    /** Whether every channel that it has was found later than all of its messages. */
    canAddNothing({ topicKeys, endNs }: ExportSource): boolean {
      if (!topicKeys) return false;
      for (const [topic, key] of topicKeys) {
        if (wanted.size > 0 && !wanted.has(topic)) continue;
        const ids = channelsOfKeys.get(`${key} ${topic}`);
        if (!ids?.every((id) => isFound(id, endNs))) return false;
      }
      return true;
    },
    noteTopics({ topicKeys }: ExportSource, { survey, selection }: OpenSource): void {
      if (!topicKeys) return;
      const idsOf = Map.groupBy(survey.channels.values(), ({ topic }) => topic);
      for (const [topic, key] of topicKeys) {
        const ids = (idsOf.get(topic) ?? []).map(({ id }) => selection.ids.get(id) ?? unwanted);
        channelsOfKeys.set(
          `${key} ${topic}`,
          ids.filter((id) => id !== unwanted),
        );
      }
    },
    add(latest: Fragment, place: number, order: number): void {
      const start = latest.starts[place]!;
      const id = channelIdAt(latest, start);
      const bytes = latest.records.subarray(start, endOf(latest, place));
      const last = { bytes, timeNs: latest.timesNs[place]!, order, place };
      const known = found.get(id);
      if (known && comesAfter(known, last)) return;
      heldBytes += bytes.byteLength - (known?.bytes.byteLength ?? 0);
      if (heldBytes > maxHeldBytes) throw tooLarge();
      found.set(id, { ...last, bytes: new Uint8Array(bytes) });
    },
    toFragment(): Fragment {
      const builder = createFragmentBuilder();
      const inOrder = [...found].sort(([, a], [, b]) => (comesAfter(a, b) ? 1 : -1));
      for (const [id, { bytes }] of inOrder) builder.mark(builder.addBytes(bytes, 0, bytes.byteLength), id);
      return builder.take();
    },
  };
}

const maxHeldBytes = 256 * 1024 * 1024;

function comesAfter(a: LastMessage, b: LastMessage): boolean {
  if (a.timeNs !== b.timeNs) return a.timeNs > b.timeNs;
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
