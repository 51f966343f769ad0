import { setTimeout as delay } from "node:timers/promises";
import { api, type Output } from "@downlink/protocol";
import { pagesOf } from "../../core/pages-of.ts";
import { listLakes, removeLake } from "./lake-store.ts";
import { makeLake } from "./make-lake.ts";
import type { SiteSession } from "./site-session.ts";
import type { LakeDeps, WantedLake } from "./write-lake.ts";

type Work = Pick<Output<typeof api.site.work>, "lakes" | "lakeRemovals">;

const PAUSE_MS = 1000;
const MOST_DELAY_MS = 300_000;

interface Failed {
  readonly tries: number;
  readonly againAtMs: number;
}

/** The files by topic of a site. One thing is done at a time, because no caller waits for it; work that failed is asked for again. */
export class SiteLakes {
  readonly #deps: LakeDeps;
  readonly #session: SiteSession;
  #wanted: readonly WantedLake[] = [];
  #removals: readonly string[] = [];
  #isSweepDue = false;
  /** Is done, and may still be in an answer that was on its way. */
  readonly #made = new Set<string>();
  readonly #failed = new Map<string, Failed>();
  #running: Promise<void> | undefined;

  constructor(deps: LakeDeps, session: SiteSession) {
    this.#deps = deps;
    this.#session = session;
  }

  /** Follows an answer of the control plane, which has the whole of what is wanted. */
  follow({ lakes, lakeRemovals }: Work): void {
    const wanted = new Set(lakes.map(({ importId }) => importId));
    for (const importId of this.#made) if (!wanted.has(importId)) this.#made.delete(importId);
    for (const importId of this.#failed.keys()) if (!wanted.has(importId)) this.#failed.delete(importId);
    this.#wanted = lakes;
    this.#removals = lakeRemovals;
    this.#start();
  }

  /** Asks soon which of the files are needed: a process that was killed may have left some that the control plane does not know of. */
  sweepSoon(): void {
    this.#isSweepDue = true;
    this.#start();
  }

  /** Waits until nothing is under way any more. */
  async end(): Promise<void> {
    await this.#running;
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    const { stopping, log } = this.#deps;
    for (let next = this.#next(); next && !stopping.aborted; next = this.#next()) {
      try {
        await next();
      } catch (error) {
        if (stopping.aborted) return;
        log.warn({ err: error }, "work on files by topic is tried again");
        await delay(PAUSE_MS, undefined, { signal: stopping }).catch(() => {});
      }
    }
  }

  #next(): (() => Promise<void>) | undefined {
    if (this.#isSweepDue) return () => this.#sweep();
    if (this.#removals.length > 0) return () => this.#remove();
    const nowMs = performance.now();
    const wanted = this.#wanted.find(
      ({ importId }) => !this.#made.has(importId) && (this.#failed.get(importId)?.againAtMs ?? 0) <= nowMs,
    );
    return wanted && (() => this.#make(wanted));
  }

  async #sweep(): Promise<void> {
    for await (const lakes of pagesOf(listLakes(this.#deps.blobs))) {
      const { unneededLakes } = await this.#session.call(api.site.report, { lakes: [...lakes] });
      for (const importId of unneededLakes) await removeLake(this.#deps.blobs, importId);
    }
    this.#isSweepDue = false;
  }

  /** They are removed before that is reported, so that what is reported is never there any more. */
  async #remove(): Promise<void> {
    const lakesRemoved = this.#removals;
    this.#removals = [];
    for (const importId of lakesRemoved) await removeLake(this.#deps.blobs, importId);
    await this.#session.call(api.site.report, { lakesRemoved: [...lakesRemoved] });
  }

  async #make(wanted: WantedLake): Promise<void> {
    const { importId } = wanted;
    const tries = (this.#failed.get(importId)?.tries ?? 0) + 1;
    const againAtMs = performance.now() + Math.min(MOST_DELAY_MS, PAUSE_MS * 2 ** tries);
    this.#failed.set(importId, { tries, againAtMs });
    await makeLake(this.#deps, this.#session, { ...wanted, tries });
    this.#failed.delete(importId);
    this.#made.add(importId);
  }
}
