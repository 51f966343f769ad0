import { isWorthRetrying, retryDelayMs } from "@downlink/client";
import type { Operation } from "@downlink/protocol";
import { signal } from "@preact/signals";
import { QueryCache, QueryClient } from "@tanstack/query-core";
import { explainFailure } from "./failure.ts";

/** A page's data is asked for again when it is looked at after this time. */
const STALE_MS = 15_000;
const MOST_RETRIES = 3;

/** Somebody has to sign in before anything else works. The page stays as it is, below the dialog for that. */
export const isSignedOut = signal(false);
/** Since when nothing has been heard of the service, in milliseconds since 1970; undefined while it answers. */
export const awaySinceMs = signal<number | undefined>(undefined);

/** Rises when somebody else signs in, so that whatever was asked before is asked again. */
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
  if (kind === "away") awaySinceMs.value ??= Date.now();
}

/** Where some calls are answered by somebody else and others by the service, each success would ask for everything again. */
const ASK_AGAIN_MS = 5000;
let askedAgainMs = 0;

/** The service answers again: whatever failed meanwhile is asked for again. */
export function noteSuccess(): void {
  if (awaySinceMs.value === undefined) return;
  awaySinceMs.value = undefined;
  if (Date.now() - askedAgainMs >= ASK_AGAIN_MS) askAgain();
}

/** Asks again for everything that is looked at. */
export function askAgain(): void {
  askedAgainMs = Date.now();
  void queries.refetchQueries({ type: "active" });
  for (const again of [...watchers.values()].flatMap((all) => [...all])) again();
}

const watchers = new Map<string, Set<() => void>>();

/** What was asked by these operations is asked for again where it is looked at. */
export function invalidate(...operations: readonly Pick<Operation, "path">[]): void {
  for (const { path } of operations) {
    void queries.invalidateQueries({ queryKey: [path] });
    for (const again of watchers.get(path) ?? []) again();
  }
}

/** Lists that are read in parts hold them themselves, and hear so that they are old. Answers how to stop hearing. */
export function whenInvalidated({ path }: Pick<Operation, "path">, again: () => void): () => void {
  const all = watchers.get(path) ?? new Set();
  watchers.set(path, all.add(again));
  return () => void all.delete(again);
}

const renewers = new Map<string, Set<() => Promise<void>>>();

/** How many milliseconds to wait after so many failures in a row: as the service asks, else longer each time. Undefined: it would fail again. */
export function retryAfterMs(error: unknown, failures: number): number | undefined {
  return isWorthRetrying(error) ? retryDelayMs(error, failures) : undefined;
}

/**
 * Something happened: what is shown and was asked below one of the paths is asked for again, and no row of a list moves. Throws if any of it
 * is not answered.
 */
export async function renewBelow(paths: readonly string[]): Promise<void> {
  const isBelow = (path: unknown) => paths.some((below) => String(path).startsWith(below));
  const lists = [...renewers].filter(([path]) => isBelow(path)).flatMap(([, all]) => [...all]);
  await Promise.all([
    queries.invalidateQueries({ predicate: ({ queryKey: [path] }) => isBelow(path) }, { throwOnError: true }),
    ...lists.map((renew) => renew()),
  ]);
}

/** Lists that are read in parts hear so that something happened. `renew` throws if a part is not answered. Answers how to stop hearing. */
export function whenRenewed({ path }: Pick<Operation, "path">, renew: () => Promise<void>): () => void {
  const all = renewers.get(path) ?? new Set();
  renewers.set(path, all.add(renew));
  return () => void all.delete(renew);
}

/** Somebody else looks at the pages now: nothing that was asked for the person before stays. */
export function forgetEverything(): void {
  isSignedOut.value = false;
  signIns.value += 1;
  void queries.resetQueries();
}
