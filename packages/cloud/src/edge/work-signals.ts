import { EventEmitter, once } from "node:events";
import { Client, type Pool } from "pg";
import type { Logger } from "pino";

const CHANNEL = "downlink_work";
const RECONNECT_MS = 1000;
/** How long anybody waits while no signal can be heard. */
const DEAF_WAIT_MS = 1000;

/** Wakes the long polls of agents in every process of the control plane. A lost signal costs a wait, never correctness. */
export interface WorkSignals {
  /** Says that what is wanted of a device may have changed, or who may ask; call it after the commit. */
  announce(deviceId: string): Promise<void>;
  /** Resolves at the next announcement for the device, after `timeoutMs` or sooner, or when the signal aborts. */
  wait(deviceId: string, options: { timeoutMs: number; signal: AbortSignal }): Promise<void>;
  /** How many of this process wait for the device. */
  waiting(deviceId: string): number;
}

export class PostgresWorkSignals implements WorkSignals, AsyncDisposable {
  readonly #pool: Pool;
  readonly #url: string;
  readonly #log: Logger;
  readonly #heard = new EventEmitter().setMaxListeners(0);
  readonly #closing = new AbortController();
  #listener: Client | undefined;

  private constructor(options: { pool: Pool; url: string; log: Logger }) {
    this.#pool = options.pool;
    this.#url = options.url;
    this.#log = options.log;
  }

  static async start(options: { pool: Pool; url: string; log: Logger }): Promise<PostgresWorkSignals> {
    const signals = new PostgresWorkSignals(options);
    await signals.#listen();
    return signals;
  }

  async announce(deviceId: string): Promise<void> {
    await this.#pool.query("SELECT pg_notify($1, $2)", [CHANNEL, deviceId]);
  }

  async wait(deviceId: string, { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal }): Promise<void> {
    const longestMs = this.#listener ? timeoutMs : Math.min(timeoutMs, DEAF_WAIT_MS);
    const ended = AbortSignal.any([signal, this.#closing.signal, AbortSignal.timeout(longestMs)]);
    await once(this.#heard, deviceId, { signal: ended }).catch(ignoreAbort);
  }

  waiting(deviceId: string): number {
    return this.#heard.listenerCount(deviceId);
  }

  async #listen(): Promise<void> {
    const client = new Client({
      connectionString: this.#url,
      application_name: "downlink-work-signals",
      keepAlive: true,
    });
    client.on("error", (error) => this.#reconnect(client, error));
    client.on("notification", ({ payload }) => payload && payload !== "error" && this.#heard.emit(payload));
    await client.connect();
    await client.query(`LISTEN ${CHANNEL}`);
    this.#listener = client;
    this.#wakeAll(); // Whoever waited meanwhile may have missed something.
  }

  #wakeAll(): void {
    for (const name of this.#heard.eventNames()) if (name !== "error") this.#heard.emit(name); // which each waiter listens to as well
  }

  #reconnect(lost: Client, error: Error): void {
    if (this.#closing.signal.aborted || (this.#listener && this.#listener !== lost)) return;
    this.#log.warn({ err: error }, "work signals lost their connection");
    this.#listener = undefined;
    this.#wakeAll();
    lost.removeAllListeners().on("error", () => undefined); // its connection is gone; what it still says is no news
    setTimeout(() => {
      if (!this.#closing.signal.aborted) this.#listen().catch((again: Error) => this.#reconnect(lost, again));
    }, RECONNECT_MS).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#listener?.end();
  }
}

export function ignoreAbort(error: Error): void {
  if (error.name !== "AbortError" && error.name !== "TimeoutError") throw error;
}
