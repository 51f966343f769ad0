// Nothing ever waits for a collector. Spans that it does not take in time are dropped, and that is said once, until it takes some again.

import { encodeSpans, type SpanRecord } from "./span-record.ts";
import type { TraceSettings } from "./trace-settings.ts";

const MOST_WAITING = 4096;
const BATCH = 512;
const SEND_AFTER_MS = 5000;
const PATIENCE_MS = 10_000;
const LAST_PATIENCE_MS = 1000;

export interface Problems {
  /** Gets a sentence when the collector begins to fail. */
  warn(message: string): void;
}

export class SpanQueue implements AsyncDisposable {
  readonly #settings: TraceSettings;
  readonly #problems: Problems;
  #waiting: SpanRecord[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isFailing = false;

  constructor(settings: TraceSettings, problems: Problems) {
    this.#settings = settings;
    this.#problems = problems;
  }

  add(span: SpanRecord): void {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#noteFailure("it is too slow");
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= BATCH) this.#begin(PATIENCE_MS);
    else this.#timer ??= setTimeout(() => this.#begin(PATIENCE_MS), SEND_AFTER_MS).unref();
  }

  #begin(patienceMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll(patienceMs).finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(patienceMs: number): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH);
      const failure = await this.#send(batch, patienceMs);
      if (failure === undefined) this.#isFailing = false;
      else this.#noteFailure(failure);
    }
  }

  /** Returns what went wrong. A redirect is not followed: the headers may hold a secret. */
  async #send(batch: readonly SpanRecord[], patienceMs: number): Promise<string | undefined> {
    const { url, headers, resource } = this.#settings;
    try {
      const answer = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: encodeSpans(batch, resource),
        redirect: "manual",
        signal: AbortSignal.timeout(patienceMs),
      });
      await answer.body?.cancel();
      return answer.ok ? undefined : `it answered ${answer.status}`;
    } catch (error) {
      const { cause } = error as Error;
      return cause instanceof Error ? cause.message : (error as Error).message;
    }
  }

  #noteFailure(reason: string): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#problems.warn(`traces are lost: the collector at ${new URL(this.#settings.url).origin} fails: ${reason}`);
  }

  /** Sends what waits, if the collector takes it within a second. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    const last = setTimeout(() => {
      this.#waiting = [];
    }, LAST_PATIENCE_MS);
    await Promise.race([this.#finish(), new Promise((resolve) => setTimeout(resolve, LAST_PATIENCE_MS).unref())]);
    clearTimeout(last);
  }

  async #finish(): Promise<void> {
    await this.#sending;
    this.#begin(LAST_PATIENCE_MS);
    await this.#sending;
  }
}
