import type { api, Input, Recording } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { throwNotFound } from "../../core/errors.ts";
import { tenancyOf } from "../../organization/projects/find-project.ts";
import { findRecording } from "./find-recording.ts";
import { listRecordings } from "./list-recordings.ts";
import { listTopics } from "./list-topics.ts";
import { cancelImport, deleteRecording, requestImport } from "./recording-changes.ts";
import { selectRecordingRow, selectRecordingRows, toRecording } from "./recording-rows.ts";
import { summarizeRecordings } from "./summarize-recordings.ts";

type Contract = typeof api.recordings;

export const recordings: Handlers<Contract> = {
  list: listRecordings,
  summarize: summarizeRecordings,
  topics: listTopics,
  get: getRecording,
  delete: (ctx, { force, ...ref }) => findRecording(ctx, ref).then((row) => deleteRecording(ctx, row, { force })),
  requestImport: (ctx, { priority, ...ref }) =>
    findRecording(ctx, ref).then((row) => requestImport(ctx, row, priority)),
  cancelImport: (ctx, ref) => findRecording(ctx, ref).then((row) => cancelImport(ctx, row)),
};

async function getRecording(ctx: Ctx, ref: Input<Contract["get"]>): Promise<Complete<Recording>> {
  const [row] = await selectRecordingRow(ctx.db, { ...tenancyOf(ctx, ref.projectId), id: ref.keyOrId });
  return toRecording(row ?? (await readByKey(ctx, ref)), ctx.clock.nowNs());
}

/** No recording has the id. Several may have the key, and it takes more than one statement to find out which of them is meant. */
async function readByKey(ctx: Ctx, ref: Input<Contract["get"]>) {
  const { id } = await findRecording(ctx, ref);
  const [row] = await selectRecordingRows(ctx.db, { ids: [id] });
  return row ?? throwNotFound(`recording "${ref.keyOrId}"`);
}
