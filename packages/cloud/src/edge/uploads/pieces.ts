import { type api, digestOf, type Input, type Output } from "@downlink/protocol";
import type { AgentCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { grantNextPieces } from "../../import-life/part-pieces.ts";
import { requirePartLength } from "../../import-life/part-plans.ts";
import { abandonOnConflict, wantedUpload } from "./uploads.ts";

type Edge = typeof api.edge;

export async function grantPieces(
  ctx: AgentCtx,
  input: Input<Edge["grantPieces"]>,
): Promise<Complete<Output<Edge["grantPieces"]>>> {
  const { blobKey } = await wantedUpload(ctx, input);
  return grantNextPieces(ctx.blobs, blobKey, input);
}

/** The call may be repeated, because its answer may be lost. */
export async function composePart(
  ctx: AgentCtx,
  input: Input<Edge["composePart"]>,
): Promise<Complete<Output<Edge["composePart"]>>> {
  const { number, length } = input;
  const upload = await wantedUpload(ctx, input);
  requirePartLength(upload, { number, length });
  const part = { number, digest: digestOf(input), lengthBytes: length };
  const { etag } = await abandonOnConflict(ctx, upload, () => ctx.blobs.composePart(upload.blobKey, part));
  return { etag };
}
