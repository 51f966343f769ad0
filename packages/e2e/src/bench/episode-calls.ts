import { formatTimestamp } from "@downlink/protocol";
import { EVENT_EVERY_NS } from "./dataset.ts";
import { BUSY_RECORDING_NUMBER } from "./episode-dataset.ts";
import type { List } from "./filtered-list.ts";
import { recordingId } from "./recording-dataset.ts";
import type { Seeded } from "./seed.ts";
import { START_NS } from "./seed-sql.ts";

const DAY_NS = 86_400_000_000_000n;

/** Every filter of episodes, alone and combined. */
export function episodes({ projectId, counts }: Seeded): List {
  const days = (BigInt(counts.events) * EVENT_EVERY_NS) / DAY_NS;
  const day = window(days / 2n, days / 2n + 1n);
  const half = window(days / 4n, (days * 3n) / 4n);
  const last = window(days - 2n, days);
  const recording = (number: number) => ({ recordingId: recordingId(number) });
  const queries = {
    "value of many": { metadataQuery: "task:task-3,task-4" },
    "value of one": { metadataQuery: "run:run-77" },
    "value of none": { metadataQuery: "run:none" },
    "key of all": { metadataQuery: "note:*" },
    "key of none": { metadataQuery: "nothing:*" },
    "any key": { metadataQuery: "*:task-7" },
    "number and boolean": { metadataQuery: "score:7 success:true" },
    "text of all": { metadataQuery: "robot" },
    "text of few": { metadataQuery: "run-777" },
    "text of none": { metadataQuery: "zzzzzz" },
    "two letters": { metadataQuery: "zq" },
  };
  return {
    path: "/v1/episodes",
    sortKeys: ["createdAt", "startTime", "endTime"],
    filters: {
      none: {},
      project: { projectId },
      "with recordings": { include: "recordings,creationContext" },
      "a day": day,
      "half of all": half,
      "the last days": last,
      missing: { hasMissingRecordings: "true" },
      "not missing": { hasMissingRecordings: "false" },
      "missing, the last days": { hasMissingRecordings: "true", ...last },
      "not missing, half of all": { hasMissingRecordings: "false", ...half },
      recording: recording(Math.round(counts.recordings / 2)),
      "busy recording": recording(BUSY_RECORDING_NUMBER),
      ...queries,
      "missing, value of many": { hasMissingRecordings: "true", metadataQuery: "task:task-3" },
      "half of all, value of many": { metadataQuery: "task:task-3", ...half },
      "a day, key of all": { metadataQuery: "note:*", ...day },
      "offset 90 %": { offset: String(Math.round(counts.episodes * 0.9)) },
    },
  };
}

function window(fromDay: bigint, toDay: bigint): { start: string; end: string } {
  return { start: formatTimestamp(START_NS + fromDay * DAY_NS), end: formatTimestamp(START_NS + toDay * DAY_NS) };
}
