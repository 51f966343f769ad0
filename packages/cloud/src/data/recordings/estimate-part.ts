import type { ImportEstimate } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import type { RecordingModel, RecordingTopicModel } from "../../db/generated/models.ts";
import { choosePart, chooseTime, isPart, type PartFields, timesOf } from "./choose-part.ts";
import { isKept, withRecording } from "./cut-rows.ts";
import { missingParts, type Part } from "./plan-cuts.ts";

/** Estimates what the device would send, by what its agent said of the topics. A recording that is imported costs nothing. */
export async function estimatePart(
  ctx: Ctx,
  recording: RecordingModel,
  fields: PartFields,
): Promise<Complete<ImportEstimate>> {
  const { prisma } = ctx.db;
  const { id: recordingId } = recording;
  if (recording.importStatus === "complete") return { bytes: 0, messageCount: 0, isRough: false, seconds: 0 };
  const topics = await prisma.recordingTopic.findMany({ where: { recordingId } });
  const estimate = isPart(fields)
    ? estimateParts(
        recording,
        topics,
        await findMissing(ctx, choosePart(recording, timesOf(topics), fields), recordingId),
      )
    : { bytes: Number(recording.sizeBytes), messageCount: Number(recording.messageCount), isRough: false };
  const rate = await findRate(ctx, recordingId);
  return { ...estimate, seconds: rate === undefined ? undefined : estimate.bytes / rate };
}

async function findMissing({ db }: Ctx, wanted: Part, wholeId: string): Promise<Part[]> {
  const cuts = await db.prisma.cut.findMany({ where: { wholeId }, include: withRecording });
  return missingParts(wanted, cuts.filter(isKept));
}

type Topics = readonly RecordingTopicModel[];

function estimateParts(recording: RecordingModel, topics: Topics, parts: readonly Part[]) {
  const bytesOfMessage = Number(recording.sizeBytes) / Math.max(1, Number(recording.messageCount));
  let [bytes, messageCount, isRough] = [0, 0, false];
  for (const part of parts) {
    const names = new Set(part.topics);
    for (const topic of topics.filter(({ topic }) => names.has(topic))) {
      const share = shareOf(part, spanOf(topic, recording)) * Number(topic.messageCount);
      const size =
        topic.bytes === null ? bytesOfMessage : Number(topic.bytes) / Math.max(1, Number(topic.messageCount));
      isRough ||= topic.bytes === null && share > 0;
      messageCount += share;
      bytes += share * size;
    }
  }
  return { bytes: Math.round(bytes), messageCount: Math.round(messageCount), isRough };
}

type Span = Pick<Part, "startNs" | "endNs">;

/** The index of a file does not say when the messages of each topic are. */
function spanOf({ startNs, endNs }: RecordingTopicModel, recording: RecordingModel): Span {
  return { startNs: startNs ?? recording.startNs, endNs: endNs ?? recording.endNs };
}

/** Returns the share of a topic's time that is in the part. Its messages are taken for evenly spread. */
function shareOf(part: Part, span: Span): number {
  const { startNs: from, endNs: to } = chooseTime(span, { start: part.startNs, end: part.endNs });
  if (from > to) return 0;
  return span.startNs === span.endNs ? 1 : Number(to - from) / Number(span.endNs - span.startNs);
}

/** The points of a day, of which those without an upload say nothing. */
const MOST_POINTS = 12;

/** Finds the mean rate of the last times at which the agent of a recording uploaded, in bytes a second. */
async function findRate({ db }: Ctx, recordingId: string): Promise<number | undefined> {
  const file = await db.prisma.edgeFile.findUnique({ where: { recordingId }, select: { agentId: true } });
  if (!file) return undefined;
  const points = await db.prisma.agentPoint.findMany({
    where: { agentId: file.agentId, bytesPerSecond: { gt: 0 } },
    orderBy: { atNs: "desc" },
    take: MOST_POINTS,
  });
  if (points.length === 0) return undefined;
  return points.reduce((sum, { bytesPerSecond }) => sum + bytesPerSecond, 0) / points.length;
}
