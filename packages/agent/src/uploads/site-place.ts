// A self-hosted site gets the capability for one upload, and never the agent's token. The capability ends after an hour, or when the site's
// keys are revoked; then the upload is opened again at the control plane, which gives another one, or says that the file is no longer
// wanted.

import { ApiCallError, createClient, retryDelayMs, type Transport } from "@downlink/client";
import {
  type CallInput,
  DigestAlgorithm,
  type Operation,
  type Output,
  siteUploads,
  type UploadSite,
} from "@downlink/protocol";
import { cloudCalls } from "../durable/durable-steps.ts";
import { pause } from "../loops/wake-signal.ts";
import { isPartWorthRetrying } from "./part-retries.ts";
import type { Sites } from "./sites.ts";
import type { UploadPlace } from "./upload-place.ts";

interface SiteUpload {
  readonly transport: Transport;
  readonly sites: Pick<Sites, "blame" | "noteAnswer">;
  readonly uploadId: string;
  readonly site: UploadSite;
  /** Opens the upload again at the control plane. */
  readonly renew: (
    signal: AbortSignal,
  ) => Promise<{ readonly uploadId: string; readonly site?: UploadSite | undefined }>;
}

/** Other uploads wait meanwhile: they may go to places that can be reached. */
const MOST_TRIES = 4;

/** A self-hosted site as the place of an upload that the control plane has opened. */
export function createSitePlace({ transport, sites, uploadId, renew, ...given }: SiteUpload): UploadPlace {
  let { site } = given;
  const ask = async <O extends Operation>(operation: O, input: CallInput<O>, signal: AbortSignal) => {
    try {
      const answer = await callSite(operation, input, { transport, site, signal });
      sites.noteAnswer(site);
      return answer;
    } catch (failure) {
      if (!signal.aborted) sites.blame(site, failure);
      throw failure;
    }
  };
  const call = async <O extends Operation>(
    operation: O,
    input: Omit<CallInput<O>, "uploadId">,
    signal: AbortSignal,
  ): Promise<Output<O>> => {
    const whole = { ...input, uploadId } as CallInput<O>;
    try {
      return await ask(operation, whole, signal);
    } catch (failure) {
      if (!isOver(failure)) throw failure;
    }
    const renewed = await renew(signal);
    if (renewed.uploadId !== uploadId || !renewed.site) throw replaced(uploadId);
    site = renewed.site;
    return await ask(operation, whole, signal);
  };
  return {
    open: (signal) => call(siteUploads.open, { digests: [...DigestAlgorithm.options] }, signal),
    grantParts: (parts, signal) => call(siteUploads.grantParts, { parts: [...parts] }, signal),
    grantPieces: ({ number, pieces }, signal) => call(siteUploads.grantPieces, { number, pieces: [...pieces] }, signal),
    composePart: (part, signal) => call(siteUploads.composePart, { ...part }, signal),
    async complete({ parts, sha256 }, signal) {
      await call(siteUploads.complete, { parts: [...parts], sha256 }, signal);
    },
    noteFailure: (failure) => sites.blame(site, failure),
    isWorthRetrying: (failure, attempt) => attempt < MOST_TRIES && isPartWorthRetrying(failure, attempt),
    waitToRetry: (failure, attempt, signal) => pause(retryDelayMs(failure, attempt), signal),
  };
}

interface SiteCall {
  readonly transport: Transport;
  readonly site: UploadSite;
  readonly signal: AbortSignal;
}

function callSite<O extends Operation>(
  operation: O,
  input: CallInput<O>,
  { transport, site, signal }: SiteCall,
): Promise<Output<O>> {
  const client = createClient({ baseUrl: site.address, token: site.capability, transport });
  const call = { what: "call", operation: operation.path } as const;
  return cloudCalls.tracePromise(() => client.call(operation, input, { signal }), call);
}

/** The capability has ended, or was made with a key that the site accepts no longer. */
function isOver(failure: unknown): boolean {
  return failure instanceof ApiCallError && (failure.code === "LinkExpired" || failure.code === "LinkRefused");
}

function replaced(uploadId: string): ApiCallError {
  return new ApiCallError({ status: 409, code: "UploadClosed", message: `upload ${uploadId} was replaced by another` });
}
