import { type Operation, siteUploads } from "@downlink/protocol";
import type { Context, Hono } from "hono";
import { encodeJson } from "../../calls/answers/encode-json.ts";
import { proveConnection } from "../../calls/connections/connections.ts";
import type { Env } from "../../calls/connections/env.ts";
import { newGoneSignal } from "../../calls/connections/new-gone-signal.ts";
import { parseInput } from "../../calls/serve/parse.ts";
import { readCapability } from "../../store/site-keys/upload-capability.ts";
import {
  completeUpload,
  composePart,
  grantParts,
  grantPieces,
  openUpload,
  type UploadAtSite,
} from "./agent-uploads.ts";
import type { SiteDeps } from "./site-deps.ts";

type UploadDeps = Pick<SiteDeps, "blobs" | "signer" | "clock" | "turns">;
type Verb = (at: UploadAtSite, input: never) => Promise<unknown>;

/** Serves what agents call with the capability for one upload at this site. */
export function agentUploadRoutes(app: Hono<Env>, deps: UploadDeps, onReceived: () => void): void {
  const open: Verb = async (at, input) => {
    const opened = await openUpload(at, input);
    if (opened.isStored) onReceived(); // it may be known here only since now
    return opened;
  };
  const complete: Verb = async (at, input) => {
    const completed = await completeUpload(at, input);
    onReceived();
    return completed;
  };
  serveUpload(app, deps, [siteUploads.open, open]);
  serveUpload(app, deps, [siteUploads.grantParts, grantParts]);
  serveUpload(app, deps, [siteUploads.grantPieces, grantPieces]);
  serveUpload(app, deps, [siteUploads.composePart, composePart]);
  serveUpload(app, deps, [siteUploads.complete, complete]);
}

function serveUpload(app: Hono<Env>, deps: UploadDeps, [operation, verb]: [Operation, Verb]): void {
  app.post(operation.path.replace("{uploadId}", ":uploadId"), async (c) => {
    const upload = readUpload(c, deps);
    proveConnection(c);
    using _turn = await deps.turns.agents.take({ owner: upload.id }, () => newGoneSignal(c));
    const answered = await verb({ blobs: deps.blobs, upload }, (await parseInput(c, operation)) as never);
    c.header("Cache-Control", "no-store");
    return c.body(encodeJson(operation.response!, answered), 200, { "content-type": "application/json" });
  });
}

function readUpload(c: Context<Env>, { signer, clock }: UploadDeps) {
  const nowMs = Number(clock.nowNs() / 1_000_000n);
  const uploadId = c.req.param("uploadId") ?? "";
  return readCapability(signer, { uploadId, authorization: c.req.header("authorization"), nowMs });
}
