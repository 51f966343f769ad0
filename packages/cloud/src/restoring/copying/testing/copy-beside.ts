import { goMarkRound } from "../../../recovery/mark-round.ts";
import { MarkNotes } from "../../../recovery/marks.ts";
import { openStore } from "../../../store/bucket-uploads/open-store.ts";
import type { StoreAddress } from "../../../store/bucket-uploads/store-address.ts";
import type { TestCloud } from "../../../testing/start-cloud.ts";
import { beginMove } from "../begin-move.ts";
import { copyStore } from "../copy-store.ts";

/** Begins a move of a control plane that runs; `copy` does what the command does beside one. */
export async function openCopy({ deps }: TestCloud, { source, target }: Record<"source" | "target", StoreAddress>) {
  const stack = new AsyncDisposableStack();
  const [old, fresh] = [await openStore(stack, source, deps), await openStore(stack, target, deps)];
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const signal = new AbortController().signal;
  const options = { isLeavingOutDamaged: false, retentionSeconds: 0, settings: ["THE=settings"] };
  /** Runs the command beside a control plane. */
  const copy = ({ deps: { db, jobs, clock, log, blobs } }: TestCloud) => {
    const findLost = async () => undefined;
    const confirm = () => goMarkRound({ db, clock, log, blobs, marks: new MarkNotes(blobs), findLost });
    return copyStore({ db, jobs, clock, self: undefined, signal, write, confirm, source: old, target: fresh }, options);
  };
  await beginMove({ db: deps.db, self: undefined, target: fresh }, { source, target });
  return { old, fresh, lines, copy };
}
