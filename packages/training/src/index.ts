export { type StoredEpisode, TrainingError, type Window } from "./episodes/episode.ts";
export { setWriters } from "./formats/writers.ts";
export { requireSame } from "./lerobot/features.ts";
export type { FileSink } from "./parquet/parquet-file.ts";
export type { EpisodeReport, PartReport } from "./report/describe-episode.ts";
export { draftMapping, tryEpisode, writeSet } from "./thread/run-in-thread.ts";
export type { Draft, DraftTopic } from "./trial/draft-mapping.ts";
export type { Trial } from "./trial/try-episode.ts";
