import { addAbortSignal, type Readable } from "node:stream";
import { MAX_ANSWER_BYTES as KEPT_BYTES } from "@downlink/protocol";
import { Agent, request } from "undici";
import type { Network } from "../limits/client-address.ts";
import { lookUpAllowed, PLAIN_REFUSED, PublicFetchError, requireAllowedUrl } from "./allowed-address.ts";

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
  /** The beginning of the body. */
  readonly text: string;
}

/** Reads a body to its end or to the limit, and returns its first bytes. The status has come, so that a body that breaks off is no failure. */
async function readBeginning(body: Readable, signal: AbortSignal): Promise<string> {
  const pieces: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const piece of addAbortSignal(signal, body) as AsyncIterable<Buffer>) {
      if (sizeBytes < KEPT_BYTES) pieces.push(piece.subarray(0, KEPT_BYTES - sizeBytes));
      sizeBytes += piece.byteLength;
      if (sizeBytes >= MAX_BODY_BYTES) break;
    }
  } catch {
    // what has come is shown
  }
  return Buffer.concat(pieces).toString("utf8").replaceAll("\0", "").toWellFormed();
}

/** POSTs to addresses that users named. No redirect is followed. */
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
      const text = await readBeginning(answer.body, signal);
      const after = answer.headers["retry-after"];
      return { statusCode: answer.statusCode, retryAfter: Array.isArray(after) ? after[0] : after, text };
    } catch (error) {
      throw new PublicFetchError(`${address.host}: ${this.#reasonOf(error as Error, address)}`, { cause: error });
    }
  }

  /** The addresses of a name are left out: who names a host of an internal network is to learn nothing about it. */
  #reasonOf(error: Error & { readonly code?: string }, { protocol }: URL): string {
    if (error instanceof PublicFetchError && protocol === "http:")
      return `${PLAIN_REFUSED}, and the name does not lead there`;
    if (error instanceof PublicFetchError) return "the name leads to no address of the public internet";
    if (error.name === "TimeoutError") return `no answer within ${this.#timeoutMs / 1000} s`;
    return error.code ?? error.message;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of Object.values(this.#agents)) await agent.destroy();
  }
}
