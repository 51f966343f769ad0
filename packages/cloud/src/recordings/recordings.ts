import type { api, Input, Recording } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { Handlers } from "../http/serve.ts";
import { findRecording } from "./find-recording.ts";
import { listRecordings } from "./list-recordings.ts";
import { cancelImport, deleteRecording, requestImport } from "./recording-changes.ts";
import { recordingColumns, toRecording } from "./recording-rows.ts";

type Contract = typeof api.recordings;

export const recordings: Handlers<Contract> = {
  list: listRecordings,
  get: getRecording,
  delete: (ctx, ref) => findRecording(ctx, ref).then((row) => deleteRecording(ctx, row)),
  requestImport: (ctx, { priority, ...ref }) =>
    findRecording(ctx, ref).then((row) => requestImport(ctx, row, priority)),
  cancelImport: (ctx, ref) => findRecording(ctx, ref).then((row) => cancelImport(ctx, row)),
};

async function getRecording(ctx: Ctx, ref: Input<Contract["get"]>): Promise<Recording> {
  const { id } = await findRecording(ctx, ref);
  return toRecording(await ctx.db.prisma.recording.findUniqueOrThrow({ where: { id }, select: recordingColumns }));
}
