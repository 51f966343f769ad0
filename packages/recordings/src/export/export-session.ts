import type { Loading } from "./load/load-run.ts";
import { createMemoryShare } from "./load/share-memory.ts";
import { createDamageReport, type DamageReport } from "./plan/damage-report.ts";
import type { Feeding } from "./plan/decide-steps.ts";
import type { ExportSource, McapExportOptions } from "./plan/export-options.ts";
import { createIdTable, type IdTable } from "./plan/id-table.ts";
import { type OnOpened, openSource } from "./plan/open-source.ts";
import type { OpenSource } from "./plan/planned-source.ts";
import { createRewritePool, holdOf } from "./rewrite/rewrite-pool.ts";

/** What lasts as long as one export; disposing it closes every source. */
export interface ExportSession extends Feeding, AsyncDisposable {
  sources: readonly ExportSource[];
  /** The sources that lie in the window, with their places among all. */
  within: readonly [number, ExportSource][];
  options: McapExportOptions;
  ids: IdTable;
  damage: DamageReport;
  loading: Loading;
  onOpened: OnOpened | undefined;
}

/** `onOpened`: called for each source before anything else is done with it; its faults are the source's. */
export function openSession(
  sources: readonly ExportSource[],
  options: McapExportOptions,
  onOpened?: OnOpened,
): ExportSession {
  const { compression, memoryBudgetBytes = defaultBudgetBytes, signal } = options;
  const within = withinWindow(sources, options);
  const ids = createIdTable();
  const damage = createDamageReport(options.onSkippedDamage);
  const memory = createMemoryShare(
    memoryBudgetBytes,
    within.map(([, source]) => source),
  );
  const lane = (options.pool ?? sharedPool).openLane();
  const largeLane = (options.pool ?? largePool).openLane();
  const stopLarge = (): void => largeLane.stop();
  signal?.addEventListener("abort", stopLarge, { once: true });
  const opened = new Set<OpenSource>();
  const generators = new Set<AsyncGenerator<unknown>>();
  return {
    sources,
    within,
    options,
    ids,
    damage,
    onOpened,
    loading: {
      lane,
      compression,
      memory,
      hold: holdOf(options),
      largeLane,
      opened: generators,
      signal,
    },
    onPlanned: memory.plan,
    async open(source: ExportSource, index: number) {
      const onClosed = (): void => void opened.delete(open);
      const open = await openSource(source, { index, ids, options, lane: largeLane, damage, onOpened, onClosed });
      opened.add(open);
      open.hold(open.runs.length);
      return open;
    },
    async [Symbol.asyncDispose]() {
      signal?.removeEventListener("abort", stopLarge);
      await Promise.all([lane[Symbol.asyncDispose](), largeLane[Symbol.asyncDispose]()]);
      await Promise.all(Array.from(generators, (generator) => generator.return(undefined)));
      await Promise.all(Array.from(opened, (source) => source.close()));
    },
  };
}

/** Attachments are wanted whatever the window is. */
function withinWindow(
  sources: readonly ExportSource[],
  { startNs, endNs, includeAttachments }: McapExportOptions,
): [number, ExportSource][] {
  return [...sources.entries()].filter(([, source]) => {
    const isBefore = startNs !== undefined && source.endNs < startNs;
    const isBehind = endNs !== undefined && source.startNs > endNs;
    return includeAttachments || (!isBefore && !isBehind);
  });
}

const defaultBudgetBytes = 64 * 1024 * 1024;

/** Its threads start with the first export, and do not keep the process alive. */
const sharedPool = createRewritePool();

/** For what takes long: an index that nobody prepared, the parts of large chunks. Small work never waits for it. */
const largePool = createRewritePool({ threadCount: 2 });
