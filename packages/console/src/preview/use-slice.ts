import { useEffect, useRef, useState } from "preact/hooks";
import { startWorker } from "../browser/start-worker.ts";
import type { OpenedSlice } from "./requests.ts";
import { openSession, type PreviewSession } from "./session.ts";
import workerUrl from "./worker.ts?worker&url";

/** Which part of a recording is looked at. */
export interface PreviewWindow {
  readonly topics: readonly string[];
  readonly startNs: bigint;
  readonly endNs: bigint;
}

export interface SliceState {
  readonly opened?: OpenedSlice;
  readonly session?: PreviewSession;
  readonly problem?: string;
  readonly bytes: number;
  /** Whether the data in sight belongs to a former window or choice of topics, until the new one is here. */
  readonly isLoading: boolean;
}

/** Returns a link to an export of a window; undefined where that failed, which the maker of the links reports. */
export type LinkTo = (window: PreviewWindow) => Promise<string | undefined>;

/** Reads a part of a recording in a worker of its own. When another part has been read, or the page is left, the worker is ended. */
export function useSlice(window: PreviewWindow, linkTo: LinkTo, isAgain: number): SliceState {
  const [state, setState] = useState<SliceState>({ bytes: 0, isLoading: true });
  const shown = useRef<PreviewSession | undefined>(undefined);
  const { topics, startNs, endNs } = window;
  const show = (state: SliceState) => {
    if (shown.current !== state.session) shown.current?.close();
    shown.current = state.session;
    setState(state);
  };
  useEffect(() => {
    setState((before) => ({ ...before, bytes: 0, isLoading: true }));
    const progress = (bytes: number) => setState((before) => ({ ...before, bytes }));
    return open(window, linkTo, { show, progress });
  }, [topics.join("\n"), startNs, endNs, isAgain]);
  useEffect(() => () => shown.current?.close(), []);
  return state;
}

interface Shown {
  show(state: SliceState): void;
  progress(bytes: number): void;
}

/** Returns what stops the reading. A slice that was shown stays open, until another one is shown. */
function open(window: PreviewWindow, linkTo: LinkTo, { show, progress }: Shown): () => void {
  let session: PreviewSession | undefined;
  let isOpened = false;
  let isLeft = false;
  const set = (state: SliceState) => {
    if (!isLeft) show(state);
  };
  const run = async () => {
    const link = await linkTo(window);
    if (isLeft) return;
    if (link === undefined) return set({ bytes: 0, isLoading: false });
    const foreign = whyForeign(link);
    if (foreign) return set({ problem: foreign, bytes: 0, isLoading: false });
    session = openSession(startWorker(workerUrl, "preview"), link, {
      onProgress: (bytes) => !isLeft && progress(bytes),
    });
    const opened = await session.opened;
    isOpened = !isLeft;
    set({ opened, session, bytes: opened.bytes, isLoading: false });
  };
  run().catch((error: Error) => set({ problem: error.message, bytes: 0, isLoading: false }));
  return () => {
    isLeft = true;
    if (!isOpened) session?.close();
  };
}

/** The policy of the page forbids other origins, and the browser says only that it failed. */
function whyForeign(link: string): string | undefined {
  const { origin } = new URL(link);
  if (origin === location.origin) return undefined;
  return `The service makes its links for ${origin}, and this page is ${location.origin}: open the page there, or set DOWNLINK_PUBLIC_URL.`;
}
