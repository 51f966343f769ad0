import { RecordingFault } from "../../faults/reasons.ts";
import { createReadContext } from "../../reading/read-context.ts";
import type { RewriteLane } from "../rewrite/rewrite-pool.ts";
import type { ExportSource } from "./export-options.ts";
import { openIndexOf } from "./open-index.ts";
import { type PlanOptions, planRuns } from "./plan-runs.ts";
import type { OpenSource } from "./planned-source.ts";

export interface Opening extends PlanOptions {
  lane: RewriteLane;
  onOpened?: OnOpened | undefined;
  onClosed?: () => void;
}

export type OnOpened = (source: OpenSource) => Promise<void>;

/** Opens and plans a source. Faults when it is no finished recording, or not the one that its index is of. */
export async function openSource(source: ExportSource, opening: Opening): Promise<OpenSource> {
  const { signal } = opening.options;
  const opened = new AsyncDisposableStack();
  let holders = 1;
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    opening.onClosed?.();
    await opened.disposeAsync();
  };
  const hold = (count: number): void => {
    holders += count;
  };
  const release = async (): Promise<void> => {
    holders -= 1;
    if (holders === 0) await close();
  };
  try {
    const bytes = opened.use(await source.open(signal));
    const context = createReadContext(bytes, { signal });
    const index = await openIndexOf(source, { recording: bytes, opened, ...opening });
    const planned = await planRuns({ source, index, context, planning: opening });
    const open: OpenSource = { ...planned, hold, release, close };
    await opening.onOpened?.(open);
    return open;
  } catch (error) {
    await opened.disposeAsync();
    if (!(error instanceof RecordingFault)) throw error;
    throw new RecordingFault(error.reason.code, `${source.fileName}: ${error.reason.text}`);
  }
}
