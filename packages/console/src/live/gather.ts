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

interface Gathering {
  /** Asks again for what is shown and was asked below one of the paths. */
  readonly renew: (paths: readonly string[]) => Promise<void>;
  readonly isHidden: () => boolean;
  readonly nowMs: () => number;
  readonly schedule: (run: () => void, ms: number) => void;
}

/** Gathers what has changed, and renews it at once, or as soon as that is not too often, or when the page is looked at again. */
export function gatherChanges({ renew, isHidden, nowMs, schedule }: Gathering) {
  const paths = new Set<string>();
  let nextMs = nowMs() + EVERY_MS; // what the page shows first is asked for right now
  let isBusy = false;

  async function flush(): Promise<void> {
    if (paths.size > 0 && !isHidden()) {
      const beganMs = nowMs();
      const all = [...paths];
      paths.clear();
      await renew(all);
      nextMs = Math.max(beganMs + EVERY_MS, nowMs() + REST * (nowMs() - beganMs));
    }
    isBusy = false;
    plan();
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
