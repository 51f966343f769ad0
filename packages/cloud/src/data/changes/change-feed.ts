// One query a second serves all callers of an organization that wait at a process for what follows the same change, and no query is made
// while no caller waits. A notification for each commit would make the commits wait for each other (`process/polls/work-signals.ts`).

import type { Deps } from "../../calls/context/context.ts";
import { type News, type Place, readNews } from "./read-changes.ts";

const ROUND_MS = 1000;

export interface Waiter {
  readonly orgId: string;
  place: Place;
  /** Gets what is new in each round, also if that is nothing. Returns whether it was taken; otherwise it is offered again. */
  readonly offer: (news: News) => boolean;
}

export class ChangeFeed {
  readonly #deps: Pick<Deps, "db" | "clock" | "log">;
  readonly #waiters = new Set<Waiter>();
  #round: NodeJS.Timeout | undefined;

  constructor(deps: Pick<Deps, "db" | "clock" | "log">) {
    this.#deps = deps;
  }

  add(waiter: Waiter): void {
    this.#waiters.add(waiter);
    this.#round ??= this.#plan();
  }

  remove(waiter: Waiter): void {
    this.#waiters.delete(waiter);
  }

  #plan(): NodeJS.Timeout {
    return setTimeout(() => void this.#serve(), ROUND_MS).unref();
  }

  async #serve(): Promise<void> {
    for (const [orgId, waiters] of Map.groupBy(this.#waiters, (waiter) => waiter.orgId))
      await this.#serveOrg(orgId, waiters).catch((error: unknown) =>
        this.#deps.log.warn({ err: error }, "changes were not read; the next round reads them"),
      );
    this.#round = this.#waiters.size > 0 ? this.#plan() : undefined;
  }

  async #serveOrg(orgId: string, waiters: readonly Waiter[]): Promise<void> {
    const known = new Map<bigint, News>();
    for (const waiter of waiters) {
      const { xid } = waiter.place;
      const news = known.get(xid) ?? (await readNews(this.#deps, orgId, waiter.place));
      known.set(xid, news);
      if (!this.#waiters.has(waiter)) continue;
      if (waiter.offer(news)) waiter.place = news.place;
    }
  }
}
