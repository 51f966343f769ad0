import type { api, Input, Output, Recording, RecordingCut } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { throwNotFound } from "../../core/errors.ts";
import { tenancyOf } from "../../organization/projects/find-project.ts";
import { isPart } from "./choose-part.ts";
import { inOrder, toCut, withRecording } from "./cut-rows.ts";
import { estimatePart } from "./estimate-part.ts";
import { findRecording } from "./find-recording.ts";
import { listRecordings } from "./list-recordings.ts";
import { listTopics } from "./list-topics.ts";
import { cancelImport, deleteRecording, requestImport } from "./recording-changes.ts";
import { selectRecordingRow, selectRecordingRows, toRecording } from "./recording-rows.ts";
import { cancelCut, requestPart } from "./request-part.ts";
import { summarizeRecordings } from "./summarize-recordings.ts";

type Contract = typeof api.recordings;

export const recordings: Handlers<Contract> = {
  list: listRecordings,
  summarize: summarizeRecordings,
  topics: listTopics,
  get: getRecording,
  delete: (ctx, { force, ...ref }) => findRecording(ctx, ref).then((row) => deleteRecording(ctx, row, { force })),
  requestImport: askForImport,
  cancelImport: (ctx, ref) => findRecording(ctx, ref).then((row) => cancelImport(ctx, row)),
};

export const recordingCuts: Handlers<typeof api.recordingCuts> = {
  estimate: (ctx, { keyOrId, projectId, ...fields }) =>
    findRecording(ctx, { keyOrId, projectId }).then((row) => estimatePart(ctx, row, fields)),
  cancel: (ctx, { cutId, ...ref }) => findRecording(ctx, ref).then((row) => cancelCut(ctx, row, { cutId })),
};

async function askForImport(
  ctx: Ctx,
  { keyOrId, projectId, ...body }: Input<Contract["requestImport"]>,
): Promise<Complete<Output<Contract["requestImport"]>>> {
  const row = await findRecording(ctx, { keyOrId, projectId });
  if (isPart(body)) return requestPart(ctx, row, body);
  return { ...(await requestImport(ctx, row, body.priority)), cuts: undefined };
}

async function getRecording(ctx: Ctx, ref: Input<Contract["get"]>): Promise<Complete<Recording>> {
  const [row] = await selectRecordingRow(ctx.db, { ...tenancyOf(ctx, ref.projectId), id: ref.keyOrId });
  const recording = toRecording(row ?? (await readByKey(ctx, ref)), ctx.clock.nowNs());
  const hasCuts = row?.hasCuts ?? true;
  return hasCuts ? { ...recording, cuts: await findCuts(ctx, recording.id) } : recording;
}

async function findCuts({ db }: Ctx, wholeId: string): Promise<Complete<RecordingCut>[] | undefined> {
  const rows = await db.prisma.cut.findMany({ where: { wholeId }, include: withRecording, orderBy: inOrder });
  return rows.length === 0 ? undefined : rows.map(toCut);
}

/** No recording has the id. Several may have the key, and it takes more than one statement to find out which of them is meant. */
async function readByKey(ctx: Ctx, ref: Input<Contract["get"]>) {
  const { id } = await findRecording(ctx, ref);
  const [row] = await selectRecordingRows(ctx.db, { ids: [id] });
  return row ?? throwNotFound(`recording "${ref.keyOrId}"`);
}
