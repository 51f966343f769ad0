import { NetworkError } from "@downlink/client";
import { putStream } from "@downlink/client/node";
import { traceHeaders } from "../cloud/trace-calls.ts";
import { type CloudCall, cloudCalls } from "../durable/durable-steps.ts";
import type { OpenUpload } from "./open-upload.ts";
import { type ByteRange, readRange } from "./upload-parts.ts";

export interface Put {
  readonly range: ByteRange;
  readonly target: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  readonly call: CloudCall;
  readonly signal: AbortSignal;
}

const STALL_TIMEOUT_MS = 60_000;

/** Sends a range of the file. Only acknowledged bytes count as sent. Returns the entity tag of the answer, where it has one. */
export async function putRange(upload: OpenUpload, put: Put): Promise<string | undefined> {
  const { meter, onPart, throttle } = upload.job;
  const { length } = put.range;
  using _turn = upload.pieces ? await throttle.takeTurn(length) : undefined;
  put.signal.throwIfAborted();
  using _sending = throttle.linkSpeed.sending();
  const carrying = throttle.pieceSizes.begin();
  try {
    const etag = await cloudCalls.tracePromise(() => sendTraced(upload, put), put.call);
    carrying.confirmed(length);
    meter.add(length);
    onPart(length);
    return etag;
  } catch (failure) {
    if (failure instanceof NetworkError) carrying.lost();
    if (!put.signal.aborted) upload.place.noteFailure(failure);
    throw failure;
  }
}

function sendTraced(upload: OpenUpload, put: Put): Promise<string | undefined> {
  const { tracing } = upload.job;
  const span = {
    name: `PUT ${put.call.what}`,
    kind: "client",
    attributes: { "downlink.bytes": put.range.length },
  } as const;
  return tracing.inSpan(span, () => {
    const headers = { ...put.target.headers, ...traceHeaders(tracing) };
    return send(upload, { ...put, target: { ...put.target, headers } });
  });
}

async function send({ job, source }: OpenUpload, { range, target, signal }: Put): Promise<string | undefined> {
  const { meter, throttle } = job;
  const { limiter, linkSpeed } = throttle;
  const { headers } = await putStream(target.url, {
    body: limiter.pace(readRange(source, range), signal),
    length: range.length,
    headers: target.headers,
    signal,
    stallTimeoutMs: STALL_TIMEOUT_MS,
    dispatcher: job.dispatcher,
    onProgress(bytes) {
      linkSpeed.note(bytes);
      meter.flow(bytes);
    },
  });
  return headers.get("etag");
}
