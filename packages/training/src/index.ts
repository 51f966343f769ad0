export { type Episode, TrainingError, type Window } from "./episodes/episode.ts";
export type { FileSink } from "./parquet/parquet-file.ts";
export type { EpisodeReport, PartReport } from "./report/describe-episode.ts";
export { type Draft, type DraftTopic, draftMapping } from "./trial/draft-mapping.ts";
export { type Trial, tryEpisode } from "./trial/try-episode.ts";
export { setWriters } from "./writers.ts";
