import { importQueue, type RecordingCut, recordingCuts, recordings } from "@downlink/protocol";
import { useState } from "preact/hooks";
import type { Failure } from "../api/failure.ts";
import { type ManyChanges, useManyChanges } from "../api/use-change.ts";
import { formatMany } from "../parts/bytes.ts";
import { toast } from "../parts/toast.tsx";
import { pagePath } from "../url/project.ts";
import { type PlannedPart, toFields } from "./plan-parts.ts";

interface Asking {
  readonly progress: ManyChanges<typeof recordings.requestImport>["progress"];
  readonly failure: Failure | undefined;
  /** The reasons why parts that were asked for are not begun by their devices. */
  readonly waits: readonly string[];
  ask(parts: readonly PlannedPart[]): Promise<void>;
}

interface AskingProps {
  readonly projectId: string;
  readonly note: string;
  readonly onClose: () => void;
  readonly onAsked: (() => void) | undefined;
}

/** Asks for the parts of several recordings, a call for each. A part that was asked for before is asked for again without harm. */
export function useAsking({ projectId, note, onClose, onAsked }: AskingProps): Asking {
  const { requestImport, get, list, summarize } = recordings;
  const stale = [get, list, summarize, recordingCuts.estimate, importQueue.list];
  const { run, progress, failure } = useManyChanges(requestImport, ...stale);
  const [waits, setWaits] = useState<readonly string[]>([]);
  const ask = async (parts: readonly PlannedPart[]) => {
    const found = new Set<string>();
    const deviceOf = new Map(parts.map(({ whole }) => [whole.id, whole.device?.name]));
    const failed = await run(
      parts.map((part) => ({ keyOrId: part.whole.id, projectId, ...toFields(part) })),
      ({ id, cuts = [] }) => {
        for (const text of reasonsOf(cuts)) found.add(nameDevice(deviceOf.get(id), text));
      },
    );
    onAsked?.();
    if (failed.length > 0) return;
    if (found.size > 0) return setWaits([...found]);
    toast(`${describeAsked(parts)} ${note}`.trim(), linkTo(projectId, parts));
    onClose();
  };
  return { progress, failure, waits, ask };
}

function reasonsOf(cuts: readonly RecordingCut[]): string[] {
  return cuts.flatMap(({ importStatus, waitsFor }) => (importStatus === "pending" && waitsFor ? [waitsFor] : []));
}

const nameDevice = (name: string | undefined, text: string) => (name === undefined ? text : `${name}: ${text}`);

function describeAsked(parts: readonly PlannedPart[]): string {
  return parts.length === 1
    ? "The part was requested."
    : `Parts of ${formatMany(parts.length, "recording")} were requested.`;
}

/** The parts of one recording are followed on its page. */
function linkTo(projectId: string, [only, ...others]: readonly PlannedPart[]) {
  if (!only || others.length > 0) return undefined;
  return { text: "See its parts", href: `${pagePath(projectId, "recordings", only.whole.id)}?tab=overview` };
}
