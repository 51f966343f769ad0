import type { Logger } from "pino";
import { ChannelListener } from "../../db/channel-listener.ts";
import type { Database } from "../../db/client.ts";
import { type Credential, findCredential } from "./find-credential.ts";

/** Nothing older than this is used, whatever went wrong. */
const LIFE_MS = 5000;
/** A key that another process deleted is used no longer than this, even if the connection that would signal the deletion is dead. */
const PROOF_LIFE_MS = 1000;
const PROOF_INTERVAL_MS = PROOF_LIFE_MS / 2;

interface KeptCredentialsOptions {
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
 * Remembers the credentials of the API keys that call, so that not each call asks the database. Triggers
 * (`prisma/functions/key-signals.sql`) signal every change of a key, and the process that changes a key forgets all of them before it
 * answers. A process without a proof of the last second that it hears these signals uses nothing that it remembers.
 */
export class KeptCredentials implements AsyncDisposable {
  readonly #options: KeptCredentialsOptions;
  readonly #kept = new Map<string, Kept>();
  #listener: ChannelListener | undefined;
  #timesForgotten = 0;

  private constructor(options: KeptCredentialsOptions) {
    this.#options = options;
  }

  static async start(options: KeptCredentialsOptions): Promise<KeptCredentials> {
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

  /** Returns what {@link findCredential} returns. */
  async find(tokenSha256: string): Promise<Credential | undefined> {
    const nowMs = performance.now();
    const kept = this.#isProven(nowMs) ? this.#kept.get(tokenSha256) : undefined;
    if (kept && nowMs < kept.untilMs) return kept.credential;
    const asOf = this.#timesForgotten;
    const credential = await findCredential(this.#options.db, tokenSha256);
    // A credential that was read before a change is not kept after it.
    if (credential?.kind === "apiKey" && asOf === this.#timesForgotten) this.#keep(tokenSha256, credential, nowMs);
    return credential;
  }

  /** Credentials that are being read at this moment are not kept either. */
  forgetAll(): void {
    this.#timesForgotten += 1;
    this.#kept.clear();
  }

  #isProven(nowMs: number): boolean {
    return nowMs - this.#listener!.provenMs < (this.#options.proofLifeMs ?? PROOF_LIFE_MS);
  }

  /** Entries stand in the order in which they end, because all live equally long. */
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
