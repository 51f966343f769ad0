import { Client } from "pg";
import type { Logger } from "pino";

const CHANNEL = "downlink_work";
const RECONNECT_MS = 1000;
/** A connection that a firewall forgot says nothing more, for ever: it is asked, and given up when it does not answer. */
const PROOF_INTERVAL_MS = 15_000;
const PROOF_TIMEOUT_MS = 5000;

export interface SignalHearer {
  /** What is wanted of the owner's agent may have changed, or who may ask. */
  hear(ownerId: string): void;
  /** So may all of it: for a while nothing was heard. */
  hearNothing(): void;
}

interface Options {
  readonly url: string;
  readonly log: Logger;
  readonly hearer: SignalHearer;
  readonly proofIntervalMs?: number;
  readonly proofTimeoutMs?: number;
}

/**
 * Hears in every process of the control plane what the database tells of agents: its triggers do, with the commit of whatever
 * changes. A lost signal costs a wait, never correctness.
 */
export class WorkSignals implements AsyncDisposable {
  readonly #options: Options;
  #isClosing = false;
  #listener: Client | undefined;
  #proving: NodeJS.Timeout | undefined;

  private constructor(options: Options) {
    this.#options = options;
  }

  /** Resolves when it listens, or else tries to. */
  static async start(options: Options): Promise<WorkSignals> {
    const signals = new WorkSignals(options);
    await signals.#listen();
    return signals;
  }

  async #listen(): Promise<void> {
    const { url, hearer, proofIntervalMs = PROOF_INTERVAL_MS, proofTimeoutMs = PROOF_TIMEOUT_MS } = this.#options;
    const timeouts = { connectionTimeoutMillis: proofTimeoutMs, query_timeout: proofTimeoutMs };
    const client = new Client({ connectionString: url, application_name: "downlink-work-signals", ...timeouts });
    client.on("error", (error) => this.#reconnect(client, error));
    client.on("notification", ({ payload }) => payload && hearer.hear(payload));
    this.#listener = client;
    try {
      await client.connect();
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      return this.#reconnect(client, error as Error);
    }
    hearer.hearNothing(); // Until now.
    this.#proveLater(client, proofIntervalMs);
  }

  #proveLater(client: Client, afterMs: number): void {
    const prove = async () => {
      try {
        await client.query("SELECT 1");
        if (this.#listener === client) this.#proveLater(client, afterMs);
      } catch (error) {
        this.#reconnect(client, error as Error);
      }
    };
    this.#proving = setTimeout(() => void prove(), afterMs).unref();
  }

  #reconnect(lost: Client, error: Error): void {
    if (this.#isClosing || this.#listener !== lost) return;
    const { log, hearer } = this.#options;
    log.warn({ err: error }, "work signals lost their connection");
    this.#listener = undefined;
    clearTimeout(this.#proving);
    hearer.hearNothing();
    lost.removeAllListeners().on("error", () => undefined); // its connection is gone; what it still says is no news
    lost.end().catch(() => undefined);
    setTimeout(() => {
      if (!this.#isClosing) void this.#listen();
    }, RECONNECT_MS).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#proving);
    await this.#listener?.end();
  }
}
