import { recordings, topics as topicContracts } from "@downlink/protocol";
import { type Query, useQuery } from "../api/use-query.ts";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import type { ExportSource } from "./export-source.ts";

interface Named {
  readonly topic: string;
  readonly encoding: string;
}

interface Offer {
  readonly topics: Query<readonly Named[]>;
  /** The topics to choose from; none where they are not known. */
  readonly names: readonly string[];
  /** Whether it may be a ROS 1 bag. */
  readonly isBag: boolean;
  /** Says how much it is at most; undefined where that is not known. */
  readonly amount: string | undefined;
}

const MAX_TOPICS = 2000;

/** Asks which topics the data of a source has, and how much of it is here. */
export function useOffer({ projectId, files, span, path }: ExportSource): Offer {
  const [first] = files;
  const recordingId = first && "recordingId" in first.by ? first.by.recordingId : undefined;
  const deviceIds = files.flatMap(({ by }) => ("deviceId" in by ? [by.deviceId] : []));
  const within = { projectId, start: span.startNs, end: span.endNs };
  const ofRecording = useQuery(
    recordings.topics,
    { keyOrId: recordingId ?? "", projectId, limit: MAX_TOPICS },
    { isEnabled: recordingId !== undefined },
  );
  const ofDevices = useQuery(
    topicContracts.list,
    { ...within, ...(deviceIds.length === 1 && { deviceId: deviceIds[0] }), limit: MAX_TOPICS },
    { isEnabled: deviceIds.length > 0 },
  );
  const sums = useQuery(
    recordings.summarize,
    { ...within, deviceIds, importStatus: ["complete"] },
    { isEnabled: deviceIds.length > 0 },
  );
  const topics: Query<readonly Named[]> = recordingId === undefined ? ofDevices : ofRecording;
  return {
    topics,
    names: [...new Set(topics.data?.map(({ topic }) => topic))],
    // An MCAP file may hold messages of ROS 1, too, and is no bag.
    isBag:
      path !== undefined &&
      !/\.mcap$/i.test(path) &&
      (topics.data?.some(({ encoding }) => encoding === "ros1") ?? false),
    amount: sums.data && describeAmount(sums.data),
  };
}

function describeAmount({ count, bytes }: { count: number; bytes: number }): string {
  if (count === 0) return "No recording of this time is imported, so there are no messages.";
  const what = count === 1 ? "1 imported recording" : `${formatCount(count)} imported recordings`;
  return `${what} of ${formatBytes(bytes)} in all: the part that you choose is about that much at most.`;
}
