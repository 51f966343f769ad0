import type { TrainingFormat, TrainingMapping } from "@downlink/protocol";
import { LEROBOT_WRITER_VERSION, writeLeRobotSet } from "../lerobot/write-set.ts";
import type { EpisodeReport } from "../report/describe-episode.ts";
import type { SetOptions } from "../report/set-options.ts";
import { PARQUET_WRITER_VERSION, writeTopicTables } from "../tables/write-tables.ts";

interface SetWriter {
  /** Another version gives other bytes for the same input. */
  readonly version: number;
  /** The part of a mapping that the format is made of. */
  readonly needs: keyof TrainingMapping & ("features" | "topics");
  readonly write: (options: SetOptions) => Promise<EpisodeReport[]>;
}

/** The writers of all formats. Throw TrainingError. */
export const setWriters: Readonly<Record<TrainingFormat, SetWriter>> = {
  "lerobot-v3": { version: LEROBOT_WRITER_VERSION, needs: "features", write: writeLeRobotSet },
  parquet: { version: PARQUET_WRITER_VERSION, needs: "topics", write: writeTopicTables },
};
