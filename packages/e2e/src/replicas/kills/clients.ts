// Clients that do not repeat a failed request by themselves, so that every failure is counted. After a failure a client waits as long as
// the answer asks for.

import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { ApiCallError, type Client, NetworkError } from "@downlink/client";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { request } from "undici";
import type { Tally } from "./tally.ts";

/** The calls whose success clients know of. */
export interface Acknowledged {
  /** The SHA-256 of each acknowledged upload, by its request. */
  readonly uploads: Map<string, string>;
  /** The ids of the acknowledged events, by their number. */
  readonly events: Map<number, string>;
}

export interface Surroundings {
  /** Each client has connections of its own. */
  readonly admin: Client;
  readonly tally: Tally;
  readonly stopping: AbortSignal;
}

const PAUSE_MS = 100;
/** The device of everything that clients upload and create. */
export const DEVICE = "uploading";
const NS_PER_SECOND = 1_000_000_000n;

/** Lists recordings and devices, one after the other. */
export async function keepListing(surroundings: Surroundings): Promise<void> {
  const { admin, stopping } = surroundings;
  while (!stopping.aborted) {
    await attempt(surroundings, "lists recordings", () => admin.call(api.recordings.list, { limit: 20 }));
    await attempt(surroundings, "lists devices", () => admin.call(api.devices.list, {}));
    await delay(PAUSE_MS);
  }
}

/** Exports one recording again and again: each answer is either cut, or equals the first one. */
export async function keepExporting(surroundings: Surroundings, recordingId: string): Promise<void> {
  const { admin, stopping } = surroundings;
  let first: string | undefined;
  while (!stopping.aborted) {
    const digest = await attempt(surroundings, "exports", async () => {
      const { link } = await admin.call(api.exports.create, { recordingId });
      return digestOf(link);
    });
    first ??= digest;
    if (digest !== undefined && digest !== first) throw new Error(`an export of ${recordingId} has other bytes`);
    await delay(PAUSE_MS);
  }
}

/** Uploads one file after the other. */
export async function keepUploading(surroundings: Surroundings, acknowledged: Acknowledged): Promise<void> {
  for (let number = 1; !surroundings.stopping.aborted; number++) {
    await upload(surroundings, acknowledged, number);
    await delay(PAUSE_MS);
  }
}

/** Uploads a file until that is acknowledged: after a lost answer it is sent again by the same link. */
export async function upload(surroundings: Surroundings, { uploads }: Acknowledged, number: number): Promise<void> {
  const { admin } = surroundings;
  const bytes = await uploadNumber(number);
  const body = { filename: `upload-${number}.mcap`, deviceName: DEVICE };
  const asked = await untilDone(surroundings, "asks for upload links", () => admin.call(api.uploads.create, body));
  await untilDone(surroundings, "uploads", () => putFile(asked.link, bytes));
  uploads.set(asked.requestId, createHash("sha256").update(bytes).digest("hex"));
}

/** Creates one event after the other, each with an `Idempotency-Key` and until it is acknowledged. */
export async function keepCreatingEvents(surroundings: Surroundings, { events }: Acknowledged): Promise<void> {
  const { admin, stopping } = surroundings;
  const run = Math.random().toString(36).slice(2);
  for (let number = 0; !stopping.aborted; number++) {
    const at = BigInt(number) * NS_PER_SECOND;
    const body = { deviceName: DEVICE, start: at, end: at, metadata: { number: String(number) } };
    const headers = { "idempotency-key": `${run}-${number}` };
    const { id } = await untilDone(surroundings, "creates events", () =>
      admin.call(api.events.create, body, { headers }),
    );
    events.set(number, id);
    await delay(PAUSE_MS);
  }
}

/** Each file has content of its own. No robot uses these numbers. */
function uploadNumber(number: number): Promise<Uint8Array> {
  const startNs = 1_700_000_000n * NS_PER_SECOND + BigInt(number) * 10n * NS_PER_SECOND;
  return makeMcap({ startNs, durationSeconds: 2, metadata: [{ name: "made", metadata: { upload: String(number) } }] });
}

/** Returns undefined after a failure, which is counted. */
async function attempt<T>({ tally }: Surroundings, client: string, call: () => Promise<T>): Promise<T | undefined> {
  try {
    const answer = await call();
    tally.succeed(client);
    return answer;
  } catch (failure) {
    if (!mayPass(failure)) throw failure;
    tally.fail(client, (failure as Error).message);
    const waitMs = failure instanceof ApiCallError ? (failure.retryAfterMs ?? PAUSE_MS) : PAUSE_MS;
    await delay(waitMs);
    return undefined;
  }
}

async function untilDone<T extends object>(
  surroundings: Surroundings,
  client: string,
  call: () => Promise<T>,
): Promise<T> {
  for (;;) {
    const answer = await attempt(surroundings, client, call);
    if (answer !== undefined) return answer;
  }
}

/**
 * Says whether a failure is expected while a process is dead: a refusal by the load balancer or another process, or no answer at all. Any
 * other failure is a bug.
 */
function mayPass(failure: unknown): boolean {
  if (failure instanceof NetworkError) return true;
  if (!(failure instanceof ApiCallError)) return false;
  if (failure.code === "LinkExpired") return true; // A link for an export lives for 15 s, which one call may need meanwhile.
  return failure.status >= 500 || (failure.code === "IdempotencyConflict" && failure.retryAfterMs !== undefined);
}

async function digestOf(link: string): Promise<string> {
  const { statusCode, headers, body } = await overNetwork(request(link));
  if (statusCode !== 200) throw refusal(statusCode, headers["retry-after"], await overNetwork(body.text()));
  const hash = createHash("sha256");
  await overNetwork(
    (async () => {
      for await (const piece of body) hash.update(piece as Buffer);
    })(),
  );
  return hash.digest("hex");
}

/** A link that was used already means that the file arrived and the answer was lost. */
async function putFile(link: string, bytes: Uint8Array): Promise<object> {
  const headers = { "content-type": "application/octet-stream" };
  const {
    statusCode,
    headers: answered,
    body,
  } = await overNetwork(request(link, { method: "PUT", headers, body: bytes }));
  const text = await overNetwork(body.text());
  if (statusCode === 200 || (statusCode === 409 && text.includes("LinkUsed"))) return {};
  throw refusal(statusCode, answered["retry-after"], text);
}

function refusal(status: number, retryAfter: string | string[] | undefined, text: string): ApiCallError {
  const retryAfterMs = retryAfter === undefined ? undefined : Number(retryAfter) * 1000;
  const code = text.includes("LinkExpired") ? "LinkExpired" : undefined;
  return new ApiCallError({ status, message: `${status} ${text.slice(0, 200)}`, code, retryAfterMs });
}

async function overNetwork<T>(sending: Promise<T>): Promise<T> {
  try {
    return await sending;
  } catch (error) {
    throw new NetworkError((error as Error).message, error);
  }
}
