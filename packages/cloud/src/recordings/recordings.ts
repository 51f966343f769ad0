import type { api, Input, Recording } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { Prisma } from "../db/generated/client.ts";
import { selectDevice } from "../devices/find-device.ts";
import type { Handlers } from "../http/serve.ts";
import { visibleIn } from "../projects/find-project.ts";
import { findRecording } from "./find-recording.ts";
import { cancelImport, deleteRecording, requestImport } from "./recording-changes.ts";
import { recordingColumns, toRecording } from "./recording-rows.ts";

type Contract = typeof api.recordings;
type ListQuery = Input<Contract["list"]>;

export const recordings: Handlers<Contract> = {
  list: listRecordings,
  get: getRecording,
  delete: (ctx, ref) => findRecording(ctx, ref).then((row) => deleteRecording(ctx, row)),
  requestImport: (ctx, { priority, ...ref }) =>
    findRecording(ctx, ref).then((row) => requestImport(ctx, row, priority)),
  cancelImport: (ctx, ref) => findRecording(ctx, ref).then((row) => cancelImport(ctx, row)),
};

async function listRecordings(ctx: Ctx, query: ListQuery): Promise<Recording[]> {
  const rows = await ctx.db.prisma.recording.findMany({
    where: await whereRecordings(ctx, query),
    select: recordingColumns,
    orderBy: [orderOf(query), { id: query.sortOrder }],
    take: query.limit,
    skip: query.offset,
  });
  return rows.map(toRecording);
}

async function getRecording(ctx: Ctx, ref: Input<Contract["get"]>): Promise<Recording> {
  const { id } = await findRecording(ctx, ref);
  return toRecording(await ctx.db.prisma.recording.findUniqueOrThrow({ where: { id }, select: recordingColumns }));
}

async function whereRecordings(ctx: Ctx, query: ListQuery): Promise<Prisma.RecordingWhereInput> {
  const device = await selectDevice(ctx, query);
  const { start, end, path, siteId, topic, importStatus } = query;
  return {
    AND: [
      await visibleIn(ctx, query.projectId),
      { ...(start !== undefined && { endNs: { gte: start } }), ...(end !== undefined && { startNs: { lte: end } }) },
      { ...(path !== undefined && { path }), ...(siteId !== undefined && { siteId }) },
      { ...(importStatus !== undefined && { importStatus: { in: importStatus } }) },
      { ...(topic !== undefined && { topics: { some: { topic } } }) },
      device || query.deviceId === "" ? { deviceId: device?.id ?? null } : {},
      query.edgeSiteId ? { id: { in: [] } } : {}, // no recording comes from an edge site before site tokens exist
      whereSession(query),
    ],
  };
}

/** An empty `sessionId` selects recordings without a session. */
function whereSession({ sessionId, sessionKey }: ListQuery): Prisma.RecordingWhereInput {
  if (sessionId !== undefined) return { sessionId: sessionId === "" ? null : sessionId };
  return sessionKey === undefined ? {} : { session: { key: sessionKey } };
}

function orderOf({ sortBy, sortOrder }: ListQuery): Prisma.RecordingOrderByWithRelationInput {
  switch (sortBy) {
    case "deviceName":
    case "device.name":
      return { device: { name: sortOrder } };
    case "start":
      return { startNs: sortOrder };
    case "end":
      return { endNs: sortOrder };
    case "duration":
      return { durationNs: sortOrder };
    case "path":
      return { path: sortOrder };
    case "importedAt":
      return { importedAtNs: { sort: sortOrder, nulls: "last" } };
    default:
      return { createdAtNs: sortOrder };
  }
}
