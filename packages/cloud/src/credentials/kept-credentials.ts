import type { Logger } from "pino";
import { ChannelListener } from "../db/channel-listener.ts";
import type { Database } from "../db/client.ts";
import { type Credential, findCredential } from "./find-credential.ts";

/** Nothing older than this counts, whatever went wrong. */
const LIFE_MS = 5000;
/** What another process took away counts no longer than this, also where the connection that would tell so is dead. */
const PROOF_LIFE_MS = 1000;
const PROOF_INTERVAL_MS = PROOF_LIFE_MS / 2;

interface Options {
  readonly url: string;
  readonly db: Pick<Database, "pool">;
  readonly log: Logger;
  readonly lifeMs?: number;
  readonly proofLifeMs?: number;
  readonly proofIntervalMs?: number;
}

interface Kept {
  readonly credential: Credential;
  readonly untilMs: number;
}

/**
 * Remembers what the API keys that call say, so that not each call asks the database. Triggers of the database signal every change
 * of a key, whoever makes it; who changes one forgets all here before it answers. While it is not proven that this process hears
 * the database, nothing is remembered. Tokens of agents are not: they call too seldom.
 */
export class KeptCredentials implements AsyncDisposable {
  readonly #options: Options;
  readonly #kept = new Map<string, Kept>();
  #listener: ChannelListener | undefined;
  #timesForgotten = 0;

  private constructor(options: Options) {
    this.#options = options;
  }

  static async start(options: Options): Promise<KeptCredentials> {
    const credentials = new KeptCredentials(options);
    const forget = () => credentials.forgetAll();
    credentials.#listener = await ChannelListener.start({
      url: options.url,
      log: options.log,
      channel: "downlink_credentials",
      name: "downlink-credentials",
      onMessage: forget,
      onGap: forget,
      proofIntervalMs: options.proofIntervalMs ?? PROOF_INTERVAL_MS,
    });
    return credentials;
  }

  /** Answers what {@link findCredential} answers. */
  async find(tokenSha256: string): Promise<Credential | undefined> {
    const nowMs = performance.now();
    const kept = this.#isProven(nowMs) ? this.#kept.get(tokenSha256) : undefined;
    if (kept && nowMs < kept.untilMs) return kept.credential;
    const asOf = this.#timesForgotten;
    const credential = await findCredential(this.#options.db, tokenSha256);
    // What was read before something changed is not kept after that.
    if (credential?.kind === "apiKey" && asOf === this.#timesForgotten) this.#keep(tokenSha256, credential, nowMs);
    return credential;
  }

  /** What is being read meanwhile is not kept either. */
  forgetAll(): void {
    this.#timesForgotten += 1;
    this.#kept.clear();
  }

  #isProven(nowMs: number): boolean {
    return nowMs - this.#listener!.provenMs < (this.#options.proofLifeMs ?? PROOF_LIFE_MS);
  }

  /** In the order in which they end, as all live as long. */
  #keep(tokenSha256: string, credential: Credential, nowMs: number): void {
    this.#kept.delete(tokenSha256);
    this.#kept.set(tokenSha256, { credential, untilMs: nowMs + (this.#options.lifeMs ?? LIFE_MS) });
    for (const [oldest, { untilMs }] of this.#kept) {
      if (untilMs > nowMs) return;
      this.#kept.delete(oldest);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listener?.[Symbol.asyncDispose]();
  }
}
