// Three things go on beside each other, each for as long as the process runs: waiting for work, reading files, and reporting what came.
// None of them waits for another, and each tries again by itself after whatever failed.

import { setTimeout as delay } from "node:timers/promises";
import { api, type Output, siteLimits } from "@downlink/protocol";
import { siteIndexKey } from "../../background/indexing/index-key.ts";
import { RefusedError } from "./call-control-plane.ts";
import { readFile, type WantedImport } from "./read-file.ts";
import { listUnreported, noteReported, type Received, removeFile, reportAllAgain } from "./received-files.ts";
import { relist } from "./relist.ts";
import { salvageFile, type WantedSalvage } from "./salvage-file.ts";
import type { SiteDeps } from "./site-deps.ts";
import { SiteLakes } from "./site-lakes.ts";
import type { SiteSession } from "./site-session.ts";
import { sweepUnfinished } from "./sweep-unfinished.ts";

type Work = Output<typeof api.site.work>;

const FIRST_DELAY_MS = 500;
const MOST_DELAY_MS = 30_000;
const READ_AT_ONCE = 2;
/** The token is looked at with each call, so that a deleted one is noticed after this time. */
const POLL_SECONDS = 8;

type LoopDeps = Pick<
  SiteDeps,
  "blobs" | "indexer" | "log" | "stopping" | "memory" | "clock" | "dataDir" | "uploadRecords"
>;

/** The work of a site with its control plane, until the site is told to stop. */
export class SiteLoops {
  readonly #deps: LoopDeps;
  readonly #session: SiteSession;
  readonly #lakes: SiteLakes;
  readonly #reading = new Map<string, Promise<void>>();
  readonly #tries = new Map<string, number>();
  #isConnected = false;
  #reporting: Promise<void> = Promise.resolve();
  #relisting: { readonly id: string; isOver: boolean; readonly done: Promise<void> } | undefined;
  #isReportDue = false;

  constructor(deps: LoopDeps, session: SiteSession) {
    this.#deps = deps;
    this.#session = session;
    this.#lakes = new SiteLakes(deps, session);
  }

  /** Runs until the process is told to stop, and waits for what is under way. */
  async run(): Promise<void> {
    let etag: string | undefined;
    for (let failures = 0; !this.#deps.stopping.aborted; ) {
      try {
        if (!this.#isConnected) await this.#connect();
        const work = await this.#session.call(api.site.work, { wait: POLL_SECONDS, etag }, POLL_SECONDS * 1000);
        await this.#follow(work);
        etag = this.#isBusy() ? undefined : work.etag;
        failures = 0;
        if (etag === undefined) await this.#pause(FIRST_DELAY_MS);
      } catch (error) {
        etag = undefined;
        if (this.#session.isLost(error)) this.#isConnected = false;
        if (this.#session.isRefused(error)) await this.#stopServing();
        this.#deps.clock.endAsking();
        await this.#recover(error, ++failures);
      }
    }
    await Promise.allSettled([...this.#reading.values(), this.#reporting, this.#relisting?.done, this.#lakes.end()]);
  }

  #isBusy(): boolean {
    return this.#reading.size > 0 || this.#relisting?.isOver === false;
  }

  /** Reports soon what came, in one call for all that came by then. */
  reportSoon(): void {
    if (this.#isReportDue) return;
    this.#isReportDue = true;
    this.#reporting = this.#reporting.then(() => this.#reportAll());
  }

  async #connect(): Promise<void> {
    await this.#session.hello();
    this.#isConnected = true;
    await this.#session.call(api.site.report, { savedKeyIds: this.#keyIds() });
    this.reportSoon();
    this.#lakes.sweepSoon();
  }

  /** A disk that does not take it is no reason to go on: in this process the keys are gone. */
  async #stopServing(): Promise<void> {
    this.#isConnected = false;
    await this.#session.dropKeys().catch((error: unknown) => {
      this.#deps.log.error(
        { err: error },
        "the folder still has the keys of links, which this process accepts no more",
      );
    });
  }

  async #follow(work: Work): Promise<void> {
    const { clock, memory, blobs } = this.#deps;
    clock.set(work.serverTime);
    const former = this.#keyIds();
    await this.#session.useKeys(work.keys);
    const added = this.#keyIds().filter((id) => !former.includes(id));
    if (added.length > 0) await this.#session.call(api.site.report, { savedKeyIds: added });
    if (memory.facts!.incarnation !== work.incarnation) {
      await reportAllAgain(blobs);
      await this.#session.enterIncarnation(work.incarnation);
      this.reportSoon();
    }
    if (work.relistId !== null) this.#relist(work.relistId);
    await this.#confirm(work.confirmations);
    for (const wanted of work.imports) this.#read(wanted);
    for (const wanted of work.salvages) this.#salvage(wanted);
    await this.#remove(work.removals);
    this.#lakes.follow(work);
  }

  /** Looks now, because a device is about to delete its copy: what was known of the objects before does not count. */
  async #confirm(keys: Work["confirmations"]): Promise<void> {
    if (keys.length === 0) return;
    const confirmed: { key: string; size: number }[] = [];
    const missing: string[] = [];
    for (const key of keys) {
      const object = await this.#deps.blobs.stat(key);
      if (object) confirmed.push({ key, size: object.sizeBytes });
      else missing.push(key);
    }
    await this.#session.call(api.site.report, { confirmed, missing });
  }

  #keyIds(): string[] {
    return this.#deps.memory.facts!.keys.map(({ id }) => id);
  }

  /** Objects are removed before that is reported, so that one that is reported is never there any more. */
  async #remove(removals: Work["removals"]): Promise<void> {
    const removed = removals.filter(({ requestId }) => !this.#reading.has(requestId));
    if (removed.length === 0) return;
    for (const { requestId, key } of removed)
      await removeFile(this.#deps.blobs, { requestId, key, indexKey: siteIndexKey(key) });
    await this.#session.call(api.site.report, { removed: removed.map(({ key }) => key) });
  }

  /** A relisting that failed starts over with the next answer; one that is over is not repeated. */
  #relist(id: string): void {
    if (this.#relisting?.isOver === false || this.#relisting?.id === id) return;
    const report = (files: readonly Received[]) => this.#reportPage(files);
    const done = relist(this.#deps, { session: this.#session, relistId: id, report })
      .then(() => this.#sweep())
      .then(() => {
        relisting.isOver = true;
      })
      .catch((error: unknown) => this.#endRelisting(error));
    const relisting = { id, isOver: false, done };
    this.#relisting = relisting;
  }

  /** It need not succeed: the next relisting comes within a day. */
  async #sweep(): Promise<void> {
    await sweepUnfinished(this.#deps).catch((error: unknown) => {
      if (!this.#deps.stopping.aborted) this.#deps.log.warn({ err: error }, "unfinished uploads are removed later");
    });
  }

  async #endRelisting(error: unknown): Promise<void> {
    if (!this.#deps.stopping.aborted) this.#deps.log.warn({ err: error }, "the store is listed again later");
    await this.#pause(delayOf(1));
    this.#relisting = undefined;
  }

  #read(wanted: WantedImport): void {
    this.#begin(wanted.requestId, (tries) => readFile(this.#deps, this.#session, { ...wanted, tries }));
  }

  #salvage(wanted: WantedSalvage): void {
    this.#begin(wanted.requestId, async (tries) => {
      await salvageFile(this.#deps, this.#session, { ...wanted, tries });
      this.reportSoon();
    });
  }

  /** Begins work on a file, unless that goes on already or others have to end first. */
  #begin(requestId: string, work: (tries: number) => Promise<void>): void {
    if (this.#reading.has(requestId) || this.#reading.size >= READ_AT_ONCE || this.#deps.stopping.aborted) return;
    const tries = (this.#tries.get(requestId) ?? 0) + 1;
    this.#tries.set(requestId, tries);
    const reading = work(tries)
      .then(() => void this.#tries.delete(requestId))
      .catch((error: unknown) => this.#postpone(requestId, error, tries))
      .finally(() => this.#reading.delete(requestId));
    this.#reading.set(requestId, reading);
  }

  async #postpone(requestId: string, error: unknown, tries: number): Promise<void> {
    if (this.#deps.stopping.aborted) return;
    this.#deps.log.error({ err: error, requestId }, "reading a file is postponed");
    await this.#pause(delayOf(tries));
  }

  async #reportAll(): Promise<void> {
    for (let failures = 0; !this.#deps.stopping.aborted; ) {
      this.#isReportDue = false;
      try {
        if (this.#isConnected) await this.#reportPages();
        return; // or once it is connected
      } catch (error) {
        if (this.#session.isLost(error)) return; // the next hello reports
        await this.#recover(error, ++failures);
      }
    }
  }

  async #reportPages(): Promise<void> {
    let page: Received[] = [];
    for await (const received of listUnreported(this.#deps.blobs)) {
      page.push(received);
      if (page.length < siteLimits.itemsPerList) continue;
      await this.#reportPage(page);
      page = [];
    }
    await this.#reportPage(page);
  }

  async #reportPage(page: readonly Received[]): Promise<void> {
    if (page.length === 0) return;
    const unknown = await this.#reportFiles(page.map(({ request: _, ...file }) => file));
    const forgotten = page.filter(({ requestId, request }) => request !== undefined && unknown.has(requestId));
    const still = forgotten.length === 0 ? unknown : await this.#reportFiles(forgotten);
    for (const { requestId } of page)
      if (still.has(requestId))
        this.#deps.log.error({ requestId }, "the control plane does not know the request of a file, which stays here");
    for (const received of page) await noteReported(this.#deps.blobs, received);
  }

  /** Returns the requests that are unknown. */
  async #reportFiles(files: readonly Received[]): Promise<Set<string>> {
    const stored = files.map(({ sizeBytes: size, inParts: _, ...file }) => ({ ...file, size }));
    const { requests } = await this.#session.call(api.site.report, { stored });
    return new Set(requests.flatMap(({ requestId, state }) => (state === "unknown" ? [requestId] : [])));
  }

  async #recover(error: unknown, failures: number): Promise<void> {
    if (this.#deps.stopping.aborted) return;
    this.#deps.log.warn({ err: error }, "a call to the control plane failed; it is made again");
    const leastMs = error instanceof RefusedError ? error.retryAfterMs : 0;
    await this.#pause(Math.max(leastMs, delayOf(failures)));
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#deps.stopping }).catch(() => {});
  }
}

function delayOf(failures: number): number {
  return Math.min(MOST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);
}
