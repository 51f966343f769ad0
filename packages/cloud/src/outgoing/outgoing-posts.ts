import { Agent, request } from "undici";
import type { Network } from "../limits/client-address.ts";
import { lookUpAllowed, PublicFetchError, requireAllowedUrl } from "./allowed-address.ts";

/** An answer is whole, or its rest is thrown away, after this time. */
const TIMEOUT_MS = 5000;
/** So much of an answer's body is read, in order to use the connection again. */
const MAX_BODY_BYTES = 64 * 1024;

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Receipt {
  readonly statusCode: number;
  /** The header of this name, as it was sent. */
  readonly retryAfter: string | undefined;
}

/** POSTs to addresses that somebody else named. No redirect is followed. */
export class OutgoingPosts implements AsyncDisposable {
  readonly #allowed: readonly Network[];
  readonly #timeoutMs: number;
  readonly #agents: Readonly<Record<string, Agent>>;

  constructor(allowed: readonly Network[], timeoutMs: number = TIMEOUT_MS) {
    const agentFor = (isPublic: boolean) =>
      new Agent({ connect: { lookup: lookUpAllowed({ allowed, isPublic }), timeout: timeoutMs } });
    this.#timeoutMs = timeoutMs;
    this.#allowed = allowed;
    this.#agents = { "https:": agentFor(true), "http:": agentFor(false) };
  }

  /** Throws a {@link PublicFetchError} if nothing answered in time, or if the address may not be requested. */
  async send({ url, headers, body }: Post, stopping: AbortSignal): Promise<Receipt> {
    const address = new URL(url);
    requireAllowedUrl(address, this.#allowed);
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(this.#timeoutMs)]);
    const dispatcher = this.#agents[address.protocol]!;
    try {
      const answer = await request(address, { method: "POST", headers, body, dispatcher, signal });
      await answer.body.dump({ limit: MAX_BODY_BYTES, signal }).catch(() => {}); // the status has come
      const after = answer.headers["retry-after"];
      return { statusCode: answer.statusCode, retryAfter: Array.isArray(after) ? after[0] : after };
    } catch (error) {
      throw new PublicFetchError(`${address.host}: ${this.#reasonOf(error as Error)}`, { cause: error });
    }
  }

  /** The addresses of a name are left out: who names a host of an internal network is to learn nothing about it. */
  #reasonOf(error: Error & { readonly code?: string }): string {
    if (error instanceof PublicFetchError) return "the name leads to no address of the public internet";
    if (error.name === "TimeoutError") return `no answer within ${this.#timeoutMs / 1000} s`;
    return error.code ?? error.message;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of Object.values(this.#agents)) await agent.destroy();
  }
}
