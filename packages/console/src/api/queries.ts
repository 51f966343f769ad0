import { isWorthRetrying, retryDelayMs } from "@downlink/client";
import type { Operation } from "@downlink/protocol";
import { signal } from "@preact/signals";
import { QueryCache, QueryClient } from "@tanstack/query-core";
import { explainFailure } from "./failure.ts";

/** Data that is older is asked for again when its page is shown. */
const STALE_MS = 15_000;
const MOST_RETRIES = 3;

/** The user has to sign in before anything else works. The page stays as it is, below the dialog for that. */
export const isSignedOut = signal(false);
/** Since when nothing has been heard of the service, in milliseconds since 1970; undefined while it answers. */
export const awaySinceMs = signal<number | undefined>(undefined);

/** Rises when another user signs in, so that all data is asked for again. */
export const signIns = signal(0);

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: noteFailure, onSuccess: noteSuccess }),
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      networkMode: "always",
      retry: (count, error) => count < MOST_RETRIES && isWorthRetrying(error),
      retryDelay: (count, error) => retryDelayMs(error, count + 1),
    },
  },
});
queries.mount();

export function noteFailure(error: unknown): void {
  const { kind } = explainFailure(error);
  if (kind === "signedOut") isSignedOut.value = true;
  if (kind === "away") noteAway();
}

export function noteAway(): void {
  awaySinceMs.value ??= Date.now();
}

/** If something else answers some calls and the service the others, each success would ask for everything again. */
const ASK_AGAIN_MS = 5000;
let askedAgainMs = 0;

/** Notes that the service answers again: whatever failed meanwhile is asked for again. */
function noteSuccess(): void {
  if (awaySinceMs.value === undefined) return;
  awaySinceMs.value = undefined;
  if (Date.now() - askedAgainMs >= ASK_AGAIN_MS) askAgain();
}

/** Makes a call that is no query, and notes by its outcome whether the service answers. A call that was given up says nothing about it. */
export async function noteOutcome<T>(call: Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    const answer = await call;
    noteSuccess();
    return answer;
  } catch (error) {
    if (!signal?.aborted) noteFailure(error);
    throw error;
  }
}

/** A list on the page that holds its rows itself, because it is read in parts. */
interface ListInSight {
  /** Asks again for the rows: they are old. */
  readonly again: () => void;
  /** Asks again because something happened, and moves no row. Throws if a part is not answered. Absent if the list does not follow. */
  readonly renew?: () => Promise<void>;
}

const lists = new Map<string, Set<ListInSight>>();

/** Lets a list learn that its rows are old. Returns how to stop that. */
export function watchList({ path }: Pick<Operation, "path">, list: ListInSight): () => void {
  const all = lists.get(path) ?? new Set();
  lists.set(path, all.add(list));
  return () => void all.delete(list);
}

/** Asks again for everything that is looked at. */
export function askAgain(): void {
  askedAgainMs = Date.now();
  void queries.refetchQueries({ type: "active" });
  for (const list of [...lists.values()].flatMap((all) => [...all])) list.again();
}

/** Asks again for the data of these operations that is in sight. */
export function invalidate(...operations: readonly Pick<Operation, "path">[]): void {
  for (const { path } of operations) {
    void queries.invalidateQueries({ queryKey: [path] });
    for (const list of lists.get(path) ?? []) list.again();
  }
}

/**
 * Asks again for the data in sight that was asked below one of the paths, because something happened; no row of a list moves. Throws if any
 * of it is not answered.
 */
export async function renewBelow(paths: readonly string[]): Promise<void> {
  const isBelow = (path: unknown) => paths.some((below) => String(path).startsWith(below));
  const inSight = [...lists].filter(([path]) => isBelow(path)).flatMap(([, all]) => [...all]);
  await Promise.all([
    queries.invalidateQueries({ predicate: ({ queryKey: [path] }) => isBelow(path) }, { throwOnError: true }),
    ...inSight.map((list) => list.renew?.()),
  ]);
}

/**
 * Returns how many milliseconds to wait after so many failures in a row: as the service asks, else longer each time. Undefined: it would
 * fail again.
 */
export function retryAfterMs(error: unknown, failures: number): number | undefined {
  return isWorthRetrying(error) ? retryDelayMs(error, failures) : undefined;
}

/** Forgets all data of the former user, because another one looks at the pages now. */
export function forgetEverything(): void {
  isSignedOut.value = false;
  signIns.value += 1;
  void queries.resetQueries();
}
