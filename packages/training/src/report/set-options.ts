import type { TrainingMapping } from "@downlink/protocol";
import type { Episode } from "../episodes/episode.ts";
import type { FileSink } from "../parquet/parquet-file.ts";

export interface SetOptions {
  readonly mapping: TrainingMapping;
  /** By their start, and those with the same start by their ids. They may be read several times. */
  readonly episodes: AsyncIterable<Episode> | Iterable<Episode>;
  /** Kept in `downlink.json`. */
  readonly about: Readonly<Record<string, unknown>>;
  /** Opens a file by its path in the set, such as `meta/info.json`. */
  readonly open: (path: string) => FileSink;
  /** Is called after each episode that was read, with the count of those that are done. */
  readonly onEpisode?: (doneCount: number) => Promise<void> | void;
}

export async function writeJson(open: SetOptions["open"], path: string, value: unknown): Promise<void> {
  const sink = open(path);
  await sink.write(Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`));
  await sink.close();
}
