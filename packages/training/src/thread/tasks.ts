import type { MessagePort } from "node:worker_threads";
import type { TrainingFormat, TrainingMapping } from "@downlink/protocol";
import type { EpisodeReport } from "../report/describe-episode.ts";
import type { Draft, DraftTopic } from "../trial/draft-mapping.ts";
import type { Trial } from "../trial/try-episode.ts";

/** A thread writes a set of all episodes of its host, or looks at one of them. */
export type Task =
  | {
      readonly name: "write";
      readonly format: TrainingFormat;
      readonly mapping: TrainingMapping;
      readonly about: About;
    }
  | {
      readonly name: "try";
      readonly format: TrainingFormat;
      readonly mapping: TrainingMapping;
      readonly rowCount: number;
    }
  | { readonly name: "draft"; readonly topics: readonly DraftTopic[]; readonly task: string };

type About = Readonly<Record<string, unknown>>;
export type TaskResult = readonly EpisodeReport[] | Trial | Draft;

export interface SentTask {
  readonly task: Task;
  /** A `Host` answers at its other end. */
  readonly port: MessagePort;
}

/** `refused`: the message of a TrainingError, whose class does not cross from a thread. */
export type Answer = { readonly result: TaskResult } | { readonly refused: string };
