import type { Changes } from "@downlink/protocol";

type Kind = Changes["changes"][number]["kind"];

/** What is asked below these paths may be other by now. */
const AFFECTED: Readonly<Record<Kind, readonly string[]>> = {
  recording: ["/v1/recordings", "/v1/data/import", "/v1/data/pending-imports", "/v1/edge-files"],
  session: ["/v1/sessions"],
  device: ["/v1/devices"],
  event: ["/v1/events"],
  dataset: ["/v1/datasets", "/v1/episodes"],
};

/** However much happens, what is shown is asked for again no more often than this. */
const EVERY_MS = 5000;
/** What takes the service long is asked for more rarely: answers take a twentieth of the time at most. */
const REST = 19;
/** Nothing that is new waits longer than this because of it. */
const MOST_REST_MS = 30_000;

interface Gathering {
  /** Asks again for what is shown and was asked below one of the paths. Throws if any of it is not answered. */
  readonly renew: (paths: readonly string[]) => Promise<void>;
  /** How long to wait after so many failures in a row, of which this is the last; undefined if it would fail again. */
  readonly retryMs: (error: unknown, failures: number) => number | undefined;
  readonly isHidden: () => boolean;
  readonly nowMs: () => number;
  readonly schedule: (run: () => void, ms: number) => void;
}

/** Gathers what has changed, and renews it at once, or as soon as that is not too often, or when the page is looked at again. */
export function gatherChanges({ renew, retryMs, isHidden, nowMs, schedule }: Gathering) {
  const paths = new Set<string>();
  let nextMs = nowMs() + EVERY_MS; // what the page shows first is asked for right now
  let isBusy = false;
  let failures = 0;

  async function flush(): Promise<void> {
    if (paths.size > 0 && !isHidden()) {
      const beganMs = nowMs();
      const all = [...paths];
      paths.clear();
      const restMs = await restAfter(all, beganMs);
      nextMs = Math.max(beganMs + EVERY_MS, nowMs() + restMs);
    }
    isBusy = false;
    plan();
  }

  /** Renews, and answers for how long to rest after that. What fails for now is renewed again. */
  async function restAfter(all: readonly string[], beganMs: number): Promise<number> {
    try {
      await renew(all);
      failures = 0;
    } catch (error) {
      failures += 1;
      const waitMs = retryMs(error, failures);
      if (waitMs !== undefined) {
        for (const path of all) paths.add(path);
        return waitMs;
      }
      failures = 0;
    }
    return Math.min(REST * (nowMs() - beganMs), MOST_REST_MS);
  }

  function plan(): void {
    if (isBusy || paths.size === 0 || isHidden()) return;
    isBusy = true;
    schedule(() => void flush(), Math.max(0, nextMs - nowMs()));
  }

  return {
    heed({ changes, isMissed }: Pick<Changes, "changes" | "isMissed">): void {
      const kinds = isMissed ? (Object.keys(AFFECTED) as Kind[]) : changes.map(({ kind }) => kind);
      for (const path of kinds.flatMap((kind) => AFFECTED[kind] ?? [])) paths.add(path);
      plan();
    },
    /** The page is looked at again. */
    look: plan,
  };
}
