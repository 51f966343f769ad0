import type { api, Input } from "@downlink/protocol";
import { recordingFormatOf } from "@downlink/recordings";
import { signLink } from "../blobs/signed-link.ts";
import type { Ctx } from "../context.ts";
import { ApiError } from "../http/errors.ts";
import type { Handlers } from "../http/serve.ts";
import { whereSelected } from "../recordings/select-recordings.ts";
import { EXPORT_PATH } from "./export-route.ts";
import { encodeSelection } from "./export-selection.ts";

type Contract = typeof api.exports;

const LINK_LIFE_MS = 15_000;

export const exportLinks: Handlers<Contract> = { create: createExportLink };

/** The link carries everything that the stream needs, so that the data plane asks nobody. spec: Export */
async function createExportLink(ctx: Ctx, body: Input<Contract["create"]>): Promise<{ link: string }> {
  const { recordingId, recordingKey, importId, projectId } = body;
  const recording = await ctx.db.prisma.recording.findFirst({
    where: {
      AND: [await whereSelected(ctx, { recordingId, recordingKey, importId, projectId }), { importStatus: "complete" }],
    },
    select: { blobKey: true, path: true, format: true },
  });
  if (!recording?.blobKey) throw new ApiError("NoStreamableRecordings", "the selection holds no imported recording");
  const claims = encodeSelection({
    blobKey: recording.blobKey,
    fileName: recordingFormatOf(recording.path)
      ? recording.path
      : `recording.${recording.format === "bag1" ? "bag" : "mcap"}`,
    topics: body.topics ?? [],
    startNs: body.start?.toString(),
    endNs: body.end?.toString(),
    compression: body.compressionFormat,
    includeAttachments: body.includeAttachments,
  });
  const expiresAtMs = Number(ctx.clock.nowNs() / 1_000_000n) + LINK_LIFE_MS;
  return {
    link: `${ctx.publicUrl()}${EXPORT_PATH}?${signLink(ctx.signer, { method: "GET", path: EXPORT_PATH, claims, expiresAtMs })}`,
  };
}
