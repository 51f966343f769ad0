import type { Loading } from "./load/load-run.ts";
import { createMemoryShare } from "./load/share-memory.ts";
import { DamageReport } from "./plan/damage-report.ts";
import type { Feeding } from "./plan/decide-steps.ts";
import type { ExportSource, McapExportOptions } from "./plan/export-options.ts";
import { IdTable } from "./plan/id-table.ts";
import { type OnOpened, openSource } from "./plan/open-source.ts";
import type { OpenSource } from "./plan/planned-source.ts";
import { RewritePool } from "./rewrite/rewrite-pool.ts";
import { holdOf } from "./rewrite/serve-job.ts";

/** Everything that lasts as long as one export. Disposing it closes every source. */
export interface ExportSession extends Feeding, AsyncDisposable {
  readonly sources: readonly ExportSource[];
  /** The sources that lie in the window, with their places among all. */
  readonly within: readonly [number, ExportSource][];
  readonly options: McapExportOptions;
  readonly ids: IdTable;
  readonly damage: DamageReport;
  readonly loading: Loading;
  readonly onOpened: OnOpened | undefined;
}

/**
 * `onOpened` is called for each source before anything else is done with the source. An error that it throws counts as thrown by opening
 * the source.
 */
export function openSession(
  sources: readonly ExportSource[],
  options: McapExportOptions,
  onOpened?: OnOpened,
): ExportSession {
  const within = withinWindow(sources, options);
  const ids = new IdTable();
  const damage = new DamageReport(options.onSkippedDamage);
  const loading = createLoading(within, options);
  const opened = new Set<OpenSource>();
  const stopLarge = (): void => loading.largeLane.stop();
  options.signal?.addEventListener("abort", stopLarge, { once: true });
  const shared = { ids, options, lane: loading.largeLane, damage, onOpened, readsAll: true };
  return {
    sources,
    within,
    options,
    ids,
    damage,
    onOpened,
    loading,
    onPlanned: loading.memory.plan,
    async open(source: ExportSource, index: number) {
      const onClosed = (): void => void opened.delete(open);
      const open = await openSource(source, { ...shared, index, onClosed });
      opened.add(open);
      open.hold(open.runs.length);
      return open;
    },
    async [Symbol.asyncDispose]() {
      options.signal?.removeEventListener("abort", stopLarge);
      await endLoading(loading);
      await Promise.all(Array.from(opened, (source) => source.close()));
    },
  };
}

function createLoading(within: ExportSession["within"], options: McapExportOptions): Loading {
  const { compression, memoryBudgetBytes = DEFAULT_BUDGET_BYTES, signal, pool } = options;
  const spans = within.map(([, source]) => source);
  return {
    lane: (pool ?? sharedPool).openLane(),
    compression,
    memory: createMemoryShare(memoryBudgetBytes, spans),
    hold: holdOf(options),
    largeLane: (pool ?? largePool).openLane(),
    opened: new Set(),
    signal,
  };
}

async function endLoading({ lane, largeLane, opened }: Loading): Promise<void> {
  await Promise.all([lane[Symbol.asyncDispose](), largeLane[Symbol.asyncDispose]()]);
  await Promise.all(Array.from(opened, (generator) => generator.return(undefined)));
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

const DEFAULT_BUDGET_BYTES = 64 * 1024 * 1024;

/** Its threads start with the first export, and do not keep the process alive. */
const sharedPool = new RewritePool();

/** This pool does what takes long: an index that was not prepared, the parts of large chunks. Small work never waits for it. */
const largePool = new RewritePool({ threadCount: 2 });
