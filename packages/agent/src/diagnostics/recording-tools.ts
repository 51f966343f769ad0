import type { RecordingFormatName } from "@downlink/recordings";

/** The programs with which people repair files of a format, and look at them. */
const tools: Readonly<Record<RecordingFormatName, { readonly repair: string; readonly check: string }>> = {
  mcap: { repair: "`mcap recover`", check: "`mcap doctor`" },
  bag1: { repair: "`rosbag reindex`", check: "`rosbag check`" },
};

export const repairTools: string = Object.values(tools)
  .map(({ repair }) => repair)
  .join(", ");

export const checkTools: string = Object.values(tools)
  .map(({ check }) => check)
  .join(", ");
