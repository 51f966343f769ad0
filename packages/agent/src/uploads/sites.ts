// A site that cannot be reached rests: its uploads wait together, one of them tries from time to time, and those to other places go on. Which
// site a file goes to is known once its upload was opened.

import { ApiCallError, NetworkError, retryDelayMs } from "@downlink/client";
import type { UploadSite } from "@downlink/protocol";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import type { Clock } from "../system/clock.ts";

type KnownSite = Pick<UploadSite, "id" | "name" | "address">;

/** The self-hosted sites that take uploads of this agent. */
export interface Sites {
  /** Notes where a request goes. Throws {@link SiteRestingError} while that site rests. */
  enter(requestId: string, site: KnownSite): void;
  /** Notes that a failure is the site's, unless it is one of normal work. */
  blame(site: KnownSite, failure: unknown): void;
  /** The site has answered: whatever it says, it can be reached. */
  noteAnswer(site: KnownSite): void;
  /** Ends a try. Lets the site rest if the failure is its own, and returns for how long; undefined if it is not. */
  noteEnd(requestId: string, failure: unknown): number | undefined;
  /** Whether a request waits for its site, or for another request that tries that site at this moment. */
  isResting(requestId: string): boolean;
  keepOnly(requestIds: ReadonlySet<string>): void;
}

interface State {
  readonly site: KnownSite;
  failures: number;
  notBeforeMs: number;
  lastError: string;
  /** The request that tries a site which failed before. */
  trier: string | undefined;
}

const restLimits = { firstMs: 5000, capMs: 60_000 };

/** The upload was opened, and its site rests. */
export class SiteRestingError extends Error {
  constructor({ name }: KnownSite) {
    super(`the site "${name}" could not be reached and is tried again soon`);
    this.name = "SiteRestingError";
  }
}

interface Context {
  readonly clock: Clock;
  readonly problems: ProblemBoard;
}

export function createSites({ clock, problems }: Context): Sites {
  const goals = new Map<string, string>();
  const states = new Map<string, State>();
  const blamed = new WeakMap<object, string>();
  const stateOf = (requestId: string) => states.get(goals.get(requestId) ?? "");
  return {
    enter(requestId, site) {
      goals.set(requestId, site.id);
      const state = states.get(site.id) ?? { site, failures: 0, notBeforeMs: 0, lastError: "", trier: undefined };
      states.set(site.id, state);
      if (isClosed(state, requestId, clock)) throw new SiteRestingError(site);
      if (state.failures > 0) state.trier = requestId;
    },
    blame({ id }, failure) {
      if (isTroubleOfSite(failure)) blamed.set(failure, id);
    },
    noteAnswer({ id }) {
      const state = states.get(id);
      if (state?.failures) Object.assign(state, { failures: 0, notBeforeMs: 0, trier: undefined });
      show(states, problems);
    },
    noteEnd(requestId, failure) {
      const state = stateOf(requestId);
      if (state?.trier === requestId) state.trier = undefined;
      if (!state || !(failure instanceof Error)) return undefined;
      if (blamed.get(failure) === state.site.id) letRest(state, failure, clock);
      else if (!(failure instanceof SiteRestingError)) return undefined;
      show(states, problems);
      return Math.max(0, state.notBeforeMs - clock.monotonicMs());
    },
    isResting(requestId) {
      const state = stateOf(requestId);
      return state !== undefined && isClosed(state, requestId, clock);
    },
    keepOnly(requestIds) {
      for (const requestId of goals.keys()) if (!requestIds.has(requestId)) goals.delete(requestId);
      const wanted = new Set(goals.values());
      for (const [id, state] of states) {
        if (!wanted.has(id)) states.delete(id);
        // Its end will not be noted any more, and the others would wait for it.
        if (state.trier !== undefined && !requestIds.has(state.trier)) state.trier = undefined;
      }
      show(states, problems);
    },
  };
}

/** Returns whether a request has to wait, because the site rests, or because another request tries it. */
function isClosed({ failures, notBeforeMs, trier }: State, requestId: string, clock: Clock): boolean {
  if (failures === 0) return false;
  return notBeforeMs > clock.monotonicMs() || (trier !== undefined && trier !== requestId);
}

function letRest(state: State, failure: Error, clock: Clock): void {
  state.failures += 1;
  state.lastError = failure.message;
  const restMs = retryDelayMs(failure, state.failures, { ...clock, limits: restLimits });
  state.notBeforeMs = clock.monotonicMs() + restMs;
}

function show(states: ReadonlyMap<string, State>, problems: ProblemBoard): void {
  const failing = states.values().find(({ failures }) => failures > 0);
  if (failing) problems.raise("SiteUnreachable", describe(failing));
  else problems.clear("SiteUnreachable");
}

function describe({ site, lastError }: State): string {
  return `the site "${site.name}" at ${site.address}: ${lastError}. Files for it wait, and all others are sent`;
}

/** Returns whether there was no answer, or one of a failing machine or of something in between. */
function isTroubleOfSite(failure: unknown): failure is Error {
  if (failure instanceof NetworkError) return true;
  return (
    failure instanceof ApiCallError && (failure.code === undefined || failure.status >= 500 || failure.status === 429)
  );
}
