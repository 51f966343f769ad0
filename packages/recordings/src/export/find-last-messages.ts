import type { ExportSession } from "./export-session.ts";
import { bytesOfRun, isLarge, type Loading, toStored } from "./load/load-run.ts";
import { ExportError, type ExportSource } from "./plan/export-options.ts";
import { openSource } from "./plan/open-source.ts";
import type { OpenSource, PlannedRun } from "./plan/planned-source.ts";
import { channelIdAt, endOf, type Fragment, FragmentBuilder } from "./rewrite/fragment.ts";
import { UNWANTED } from "./rewrite/selection.ts";

/**
 * Finds the latest message of each selected channel before the window, in order of log time. It goes backward through the sources, and ends
 * when no earlier source can have a channel without a message: the `topicKeys` of a source say which channels it has.
 */
export async function findLastMessages(session: ExportSession): Promise<Fragment> {
  const { sources, options, ids, loading, onOpened } = session;
  const { lookbackNs } = options.lastPerChannel!;
  const endNs = options.startNs! - 1n;
  const startNs = lookbackNs === undefined ? undefined : options.startNs! - lookbackNs;
  const found = new LastMessages(options.topics ?? []);
  for (const [index, source] of latestFirst(sources)) {
    if (source.startNs > endNs || (startNs !== undefined && source.endNs < startNs)) continue;
    if (found.areAllFound(source)) continue;
    // Damage before the window is not reported, because the caller did not ask for that part.
    const about = { index, ids, lane: loading.largeLane, damage: undefined, onOpened, readsAll: false };
    const opened = await openSource(source, { ...about, options: { ...options, startNs, endNs } });
    try {
      for (const run of latestRunsFirst(opened, endNs)) await searchRun(run, found, loading);
      found.noteTopics(source, opened);
    } finally {
      await opened.release();
    }
  }
  return found.toFragment();
}

function latestFirst(sources: readonly ExportSource[]): [number, ExportSource][] {
  return Array.from(sources.entries()).sort(([i, a], [j, b]) => compare(b.endNs, a.endNs) || j - i);
}

function latestRunsFirst(source: OpenSource, endNs: bigint): PlannedRun[] {
  const runs: PlannedRun[] = [];
  for (let run = source.runs.take(source); run; run = source.runs.take(source)) runs.push(run);
  return runs.sort((a, b) => compare(lastOf(b, endNs), lastOf(a, endNs)) || b.order - a.order);
}

/** The latest time that a message before the window can have. */
function lastOf({ endNs: runEndNs }: { endNs: bigint }, endNs: bigint): bigint {
  return runEndNs < endNs ? runEndNs : endNs;
}

async function searchRun(run: PlannedRun, found: LastMessages, { lane, hold }: Loading): Promise<void> {
  const { source } = run;
  const { ids, startNs = 0n, endNs } = source.selection;
  const mayHold = (await source.channelsOf(run)).some((channel) => {
    const id = ids.get(channel.channelId) ?? UNWANTED;
    const isInReach = id !== UNWANTED && channel.startNs <= endNs! && channel.endNs >= startNs;
    return isInReach && !found.isFound(id, lastOf(channel, endNs!));
  });
  if (!mayHold) return;
  using _turn = isLarge(run) ? await hold(run.lengthBytes + run.storedBytes) : undefined;
  const from = await bytesOfRun(run);
  const latest = await lane.run({ kind: "latest", from, run: toStored(run), selection: source.selection.sent });
  for (let place = 0; place < latest.starts.length; place += 1) found.add(latest, place, run.order);
}

interface LastMessage {
  /** The message's record. */
  readonly bytes: Uint8Array;
  readonly timeNs: bigint;
  /** The order of the run, and the message's place in it, order messages of equal times. */
  readonly order: number;
  readonly place: number;
}

/** The latest message of each channel so far, by its id in the written file. */
class LastMessages {
  readonly #topics: ReadonlySet<string>;
  readonly #found = new Map<number, LastMessage>();
  /** The channels that every source with a key has, by topic and key. */
  readonly #channelsOfKeys = new Map<string, readonly number[]>();
  #heldBytes = 0;

  /** `topics` are the wanted ones; an empty list means all. */
  constructor(topics: readonly string[]) {
    this.#topics = new Set(topics);
  }

  /** Whether a message of the channel was found that comes after `lastNs`. */
  isFound(id: number, lastNs: bigint): boolean {
    const last = this.#found.get(id);
    return last !== undefined && last.timeNs > lastNs;
  }

  /** Whether every wanted channel of a source has a message that is later than all messages of the source. */
  areAllFound({ topicKeys, endNs }: ExportSource): boolean {
    if (!topicKeys) return false;
    const wanted = [...topicKeys].filter(([topic]) => this.#topics.size === 0 || this.#topics.has(topic));
    return wanted.every(([topic, key]) => {
      const ids = this.#channelsOfKeys.get(`${key} ${topic}`);
      return ids?.every((id) => this.isFound(id, endNs)) ?? false;
    });
  }

  /** Notes which channels the topics of a source have, so that others with the same keys need not be opened. */
  noteTopics({ topicKeys }: ExportSource, { survey, selection }: OpenSource): void {
    if (!topicKeys) return;
    const channelsOf = Map.groupBy(survey.channels.values(), ({ topic }) => topic);
    for (const [topic, key] of topicKeys) {
      const ids = (channelsOf.get(topic) ?? []).map(({ id }) => selection.ids.get(id) ?? UNWANTED);
      const wanted = ids.filter((id) => id !== UNWANTED);
      this.#channelsOfKeys.set(`${key} ${topic}`, wanted);
    }
  }

  /** Takes the message at `place` of a fragment, unless a later one of its channel was found. `order` is that of its run. */
  add(latest: Fragment, place: number, order: number): void {
    const start = latest.starts[place]!;
    const id = channelIdAt(latest, start);
    const bytes = latest.records.subarray(start, endOf(latest, place));
    const last = { bytes, timeNs: latest.timesNs[place]!, order, place };
    const known = this.#found.get(id);
    if (known && comesAfter(known, last)) return;
    this.#heldBytes += bytes.byteLength - (known?.bytes.byteLength ?? 0);
    if (this.#heldBytes > MAX_HELD_BYTES) throw tooLarge();
    this.#found.set(id, { ...last, bytes: new Uint8Array(bytes) });
  }

  toFragment(): Fragment {
    const builder = new FragmentBuilder();
    const inOrder = [...this.#found].sort(([, a], [, b]) => (comesAfter(a, b) ? 1 : -1));
    for (const [id, { bytes }] of inOrder) builder.mark(builder.addBytes(bytes, 0, bytes.byteLength), id);
    return builder.take();
  }
}

const MAX_HELD_BYTES = 256 * 1024 * 1024;

function comesAfter(a: LastMessage, b: LastMessage): boolean {
  if (a.timeNs !== b.timeNs) return a.timeNs > b.timeNs;
  return a.order === b.order ? a.place > b.place : a.order > b.order;
}

function tooLarge(): ExportError {
  const text = `the last messages before the window are together larger than ${MAX_HELD_BYTES} bytes; select fewer topics`;
  return new ExportError("LastMessagesTooLarge", text);
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
