import { Client } from "pg";
import type { Logger } from "pino";

const RECONNECT_MS = 1000;
const PROOF_TIMEOUT_MS = 5000;

interface ChannelListenerOptions {
  readonly url: string;
  readonly log: Pick<Logger, "warn">;
  /** The channel whose notifications arrive at the commit of each change. */
  readonly channel: string;
  /** The name of the connection, as Postgres shows it. */
  readonly name: string;
  /** Called with the payload of each notification. */
  readonly onMessage: (payload: string) => void;
  /** Called when notifications may have been missed: the connection was lost, or is there again. */
  readonly onGap: () => void;
  /** A connection that a firewall forgot stays silent for ever: so it is asked at this interval, and given up when it does not answer. */
  readonly proofIntervalMs: number;
  readonly proofTimeoutMs?: number | undefined;
}

/** Receives the notifications of a channel, over a connection of its own that comes back by itself. */
export class ChannelListener implements AsyncDisposable {
  readonly #options: ChannelListenerOptions;
  #isClosing = false;
  #client: Client | undefined;
  #proving: NodeJS.Timeout | undefined;
  #provenMs = Number.NEGATIVE_INFINITY;

  private constructor(options: ChannelListenerOptions) {
    this.#options = options;
  }

  /** Resolves once it listens, or has begun to try. */
  static async start(options: ChannelListenerOptions): Promise<ChannelListener> {
    const listener = new ChannelListener(options);
    await listener.#listen();
    return listener;
  }

  /**
   * The moment, on the monotonic clock, before which every notification was received. It lies in the distant past while there is no
   * connection.
   */
  get provenMs(): number {
    return this.#provenMs;
  }

  async #listen(): Promise<void> {
    const { url, channel, name, onMessage, onGap, proofTimeoutMs = PROOF_TIMEOUT_MS } = this.#options;
    const timeouts = { connectionTimeoutMillis: proofTimeoutMs, query_timeout: proofTimeoutMs };
    const client = new Client({ connectionString: url, application_name: name, ...timeouts });
    client.on("error", (error) => this.#reconnect(client, error));
    client.on("notification", ({ payload = "" }) => onMessage(payload));
    this.#client = client;
    const askedMs = performance.now();
    try {
      await client.connect();
      await client.query(`LISTEN ${channel}`);
    } catch (error) {
      return this.#reconnect(client, error as Error);
    }
    if (this.#client !== client) return;
    onGap(); // everything until now may have been missed
    this.#provenMs = askedMs;
    this.#proveLater(client);
  }

  #proveLater(client: Client): void {
    this.#proving = setTimeout(() => void this.#prove(client), this.#options.proofIntervalMs).unref();
  }

  /** Postgres sends a connection its notifications before it answers the query. */
  async #prove(client: Client): Promise<void> {
    const askedMs = performance.now();
    try {
      await client.query("SELECT 1");
    } catch (error) {
      return this.#reconnect(client, error as Error);
    }
    if (this.#client !== client) return;
    this.#provenMs = askedMs;
    this.#proveLater(client);
  }

  #reconnect(lost: Client, error: Error): void {
    if (this.#isClosing || this.#client !== lost) return;
    const { log, onGap, name } = this.#options;
    log.warn({ err: error, name }, "the connection for the database's signals was lost");
    this.#client = undefined;
    this.#provenMs = Number.NEGATIVE_INFINITY;
    clearTimeout(this.#proving);
    onGap();
    lost.removeAllListeners().on("error", () => undefined); // its connection is gone, and later events of it mean nothing
    lost.end().catch(() => undefined);
    setTimeout(() => {
      if (!this.#isClosing) void this.#listen();
    }, RECONNECT_MS).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#proving);
    await this.#client?.end();
  }
}
