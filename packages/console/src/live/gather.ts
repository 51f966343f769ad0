import type { Changes } from "@downlink/protocol";

type Kind = Changes["changes"][number]["kind"];

/** The paths below which data may have changed, by the kind of change. */
const AFFECTED: Readonly<Record<Kind, readonly string[]>> = {
  recording: ["/v1/recordings", "/v1/data/import", "/v1/data/pending-imports", "/v1/edge-files"],
  session: ["/v1/sessions"],
  device: ["/v1/devices"],
  event: ["/v1/events"],
  dataset: ["/v1/datasets", "/v1/episodes"],
};

/** Data in sight is asked for again no more often than this, however much happens. */
const EVERY_MS = 5000;
/** Calls that take the service long are made more rarely: answers take a twentieth of the time at most. */
const REST = 19;
/** The longest wait because of slow answers. */
const MOST_REST_MS = 30_000;

interface Gathering {
  /** Asks again for data in sight that was asked below one of the paths. Throws if any of it is not answered. */
  readonly renew: (paths: readonly string[]) => Promise<void>;
  /** How long to wait after this many failures in a row, of which `error` is the last; undefined if it would fail again. */
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

  /** Renews, and returns how long to rest after that. A call that fails for now is repeated. */
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
