import { z } from "zod";
import { agentToken, operation } from "../operations/operation.ts";
import { composingPart, grantingPieces } from "../shapes/pieces.ts";
import { Id } from "../shapes/text.ts";

export const uploadParams = z.object({ requestId: Id, uploadId: Id });

/** A part may be sent in pieces, so that on a slow link also what was sent of a part counts. */
export const edgePieces = {
  grantPieces: operation({
    ...grantingPieces,
    path: "/v1/edge/imports/{requestId}/upload/{uploadId}/pieces",
    access: agentToken(),
    params: uploadParams,
  }),
  composePart: operation({
    ...composingPart,
    path: "/v1/edge/imports/{requestId}/upload/{uploadId}/compose",
    access: agentToken(),
    params: uploadParams,
    response: z.object({ etag: z.string().optional() }),
  }),
};
