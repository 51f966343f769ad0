import { createHash } from "node:crypto";
import type { MetadataRecord } from "../summary.ts";
import { createDamageReport, type DamageReport } from "./damage-report.ts";
import type { ExportOptions, ExportSource } from "./export-options.ts";
import type { Loading } from "./loading.ts";
import { createIdTable, type IdTable } from "./output/id-table.ts";
import { createMcapWriter, type McapWriter } from "./output/mcap-writer.ts";
import type { Feeding } from "./plan/feed-runs.ts";
import { type OpenSource, openSource } from "./plan/open-source.ts";
import { createOrderCheck } from "./rewrite/check-order.ts";
import { createRewritePool } from "./rewrite/rewrite-pool.ts";
import { createMemoryShare } from "./share-memory.ts";

/** What lasts as long as one export; disposing it closes every source. */
export interface ExportSession extends Feeding, AsyncDisposable {
  options: ExportOptions;
  ids: IdTable;
  writer: McapWriter;
  damage: DamageReport;
  loading: Loading;
  isNewMetadata(record: MetadataRecord): boolean;
}

/** `within`: the sources that will be opened, with their places among all. */
export function openSession(options: ExportOptions, within: readonly [number, ExportSource][]): ExportSession {
  const { compression, memoryBudgetBytes = defaultBudgetBytes, verifyPassThrough = false } = options;
  const ids = createIdTable();
  const damage = createDamageReport(options.onSkippedDamage);
  const memory = createMemoryShare(
    memoryBudgetBytes,
    within.map(([, source]) => source),
  );
  const lane = (options.pool ?? sharedPool).openLane();
  const opened = new Set<OpenSource>();
  const seen = new Set<string>();
  return {
    options,
    ids,
    damage,
    writer: createMcapWriter(ids, compression),
    loading: {
      lane,
      damage,
      compression,
      verifyPassThrough,
      checkOrder: createOrderCheck(),
      memory,
    },
    onPlanned: memory.plan,
    async open(source: ExportSource, index: number) {
      const open = await openSource(source, { index, ids, options, onClosed: () => opened.delete(open) });
      opened.add(open);
      for (let left = open.runs.length; left > 0; left -= 1) open.hold();
      return open;
    },
    isNewMetadata(record) {
      const hash = createHash("sha256").update(JSON.stringify(record)).digest("base64");
      const isNew = !seen.has(hash);
      seen.add(hash);
      return isNew;
    },
    async [Symbol.asyncDispose]() {
      lane[Symbol.dispose]();
      await Promise.all(Array.from(opened, (source) => source.close()));
    },
  };
}

const defaultBudgetBytes = 64 * 1024 * 1024;

/** Its threads start with the first export, and do not keep the process alive. */
const sharedPool = createRewritePool();
