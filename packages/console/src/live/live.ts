// The pages follow changes by one waiting call of the whole browser: a page in sight takes a lock, asks what has changed, and passes it on
// to the others. Where that is not possible, pages poll, as they do anyway.

import { type Changes, changes } from "@downlink/protocol";
import { canFollow } from "../api/can-follow.ts";
import { client } from "../api/client.ts";
import { followChanges } from "../api/follow-changes.ts";
import { noteOutcome, renewBelow, retryAfterMs } from "../api/queries.ts";
import { gatherChanges } from "./gather.ts";

const NAME = "downlink-changes";
/** The longest that the service waits. */
const WAIT_SECONDS = 25;

/** Begins to follow what happens. Returns how to end it. */
export function startLive(): () => void {
  if (!canFollow) return () => {};
  const channel = new BroadcastChannel(NAME);
  let since: string | undefined;
  let watching: AbortController | undefined;
  const gathered = gatherChanges({
    renew: renewBelow,
    retryMs: retryAfterMs,
    isHidden: () => document.hidden,
    nowMs: () => performance.now(),
    schedule: (run, ms) => void setTimeout(run, ms),
  });
  const heed = (answer: Changes) => {
    since = answer.next;
    gathered.heed(answer);
  };
  channel.onmessage = ({ data }: MessageEvent<Changes>) => heed(data);

  function watch(): void {
    if (document.hidden) {
      watching?.abort();
      watching = undefined;
      return;
    }
    gathered.look();
    if (watching) return;
    watching = new AbortController();
    void follow(watching.signal);
  }

  async function follow(signal: AbortSignal): Promise<void> {
    const pass = (answer: Changes) => {
      heed(answer);
      channel.postMessage(answer);
    };
    try {
      await navigator.locks.request(NAME, { signal }, () => followChanges(since, { ask, wait, signal, heed: pass }));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  document.addEventListener("visibilitychange", watch);
  watch();
  return () => {
    document.removeEventListener("visibilitychange", watch);
    watching?.abort();
    channel.close();
  };
}

function ask(since: string | undefined, signal: AbortSignal): Promise<Changes> {
  const input = since === undefined ? {} : { since, waitSeconds: WAIT_SECONDS };
  return noteOutcome(client.call(changes.list, input, { signal }), signal);
}

/** Resolves after so many milliseconds, or when the signal is aborted. */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
