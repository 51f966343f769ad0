// The layout of LeRobot's datasets, version 3.0. source: lerobot 0.6.1, src/lerobot/datasets

import { type AlignedEpisode, alignEpisode, type Piece } from "../align/align-episode.ts";
import { type Plan, planMapping } from "../align/plan.ts";
import { type Picture, readPictures } from "../align/read-pictures.ts";
import { readValues } from "../align/read-values.ts";
import { type Episode, TrainingError } from "../episodes/episode.ts";
import { describeEpisode, type EpisodeReport } from "../report/describe-episode.ts";
import type { SetOptions } from "../report/set-options.ts";
import { DataFiles } from "./data-files.ts";
import { describeFeatures, type FeatureInfo, ownFeatures, requireSame } from "./features.ts";
import { findWarnings } from "./find-warnings.ts";
import { PictureSampler } from "./sample-pictures.ts";
import { cutColumn, estimateBytes, ownColumns, type SetColumn, statColumns, taskOf } from "./set-columns.ts";
import { type WrittenEpisode, writeMeta } from "./write-meta.ts";

/** It is raised by hand whenever the same input gives other bytes. */
export const LEROBOT_WRITER_VERSION = 3;

/** Writes a training set. Throws {@link TrainingError} for episodes of which none can be made with the mapping. */
export async function writeLeRobotSet({
  mapping,
  episodes,
  about,
  open,
  onEpisode,
}: SetOptions): Promise<EpisodeReport[]> {
  const plan = planMapping(mapping);
  const set = new SetWriter(plan, open);
  const reports: EpisodeReport[] = [];
  for await (const episode of episodes) {
    reports.push(await addEpisode(plan, set, episode).catch((error) => throwNamed(error, episode.id)));
    await onEpisode?.(reports.length);
  }
  await set.finish(about, reports);
  return reports;
}

async function addEpisode(plan: Plan, set: SetWriter, episode: Episode): Promise<EpisodeReport> {
  const aligned = await alignEpisode(plan, episode);
  requireWhole(plan, aligned);
  const columns = aligned.pieces.length > 0 ? await set.add(aligned) : [];
  return describeEpisode(plan, aligned, findWarnings(columns));
}

/** Names the episode in an error, because a set has many. */
function throwNamed(error: unknown, id: string): never {
  if (!(error instanceof TrainingError) || error.message.includes(id)) throw error;
  throw new TrainingError(`the episode ${id} cannot be used: ${error.message}`, { cause: error });
}

function requireWhole({ mapping }: Plan, { gaps, breakCount, leftOut, episode }: AlignedEpisode): void {
  if (mapping.onGap !== "fail" || breakCount === 0) return;
  const [gap] = gaps;
  const where = gap ? `the first in ${gap.feature} (${gap.topic})` : "where the clock jumps";
  throw new TrainingError(
    `the episode ${episode.id} cannot be used, because ${leftOut}, ${where}; onGap says what may be done about it`,
  );
}

class SetWriter {
  readonly #plan: Plan;
  readonly #open: SetOptions["open"];
  readonly #tasks = new Map<string, number>();
  readonly #written: WrittenEpisode[] = [];
  #features: Record<string, FeatureInfo> | undefined;
  #data: DataFiles | undefined;

  constructor(plan: Plan, open: SetOptions["open"]) {
    this.#plan = plan;
    this.#open = open;
  }

  /** Writes an episode. Returns the columns of its features, of one piece after the other. */
  async add(aligned: AlignedEpisode): Promise<SetColumn[]> {
    const described = describeFeatures(this.#plan, aligned);
    this.#features ??= described;
    requireSame(this.#features, described, aligned.episode.id);
    this.#data ??= new DataFiles(this.#open, { ...this.#features, ...ownFeatures });
    const columns = await readValues(this.#plan, aligned);
    const pictures = readPictures(this.#plan, aligned);
    const task = taskOf(this.#plan, aligned);
    const cut = aligned.pieces.map((piece) => ({ piece, numbers: columns.map((column) => cutColumn(column, piece)) }));
    for (const each of cut) await this.#addPiece({ aligned, ...each, pictures, task });
    return cut.flatMap(({ numbers }) => numbers);
  }

  async #addPiece({ aligned, piece, numbers, pictures, task }: Adding): Promise<void> {
    const taskIndex = this.#tasks.get(task) ?? this.#tasks.size;
    this.#tasks.set(task, taskIndex);
    const sampler = new PictureSampler(piece.rowCount);
    const index = this.#written.at(-1)?.toIndex ?? 0;
    const place = { rowCount: piece.rowCount, taskIndex, index, episodeIndex: this.#written.length };
    const own = ownColumns(this.#plan.mapping.fps, place);
    const cameras = this.#plan.features.filter(({ dtype }) => dtype === "image").map(({ name }) => name);
    const file = await this.#data!.begin(estimateBytes(this.#plan, aligned, piece));
    await this.#data!.write({ columns: [...numbers, ...own], cameras, pictures, rowCount: piece.rowCount, sampler });
    const stats = new Map([...statColumns([...numbers, ...own]), ...sampler.stats(cameras)]);
    this.#written.push({ task, file, fromIndex: index, toIndex: index + piece.rowCount, stats });
  }

  async finish(about: SetOptions["about"], reports: readonly EpisodeReport[]): Promise<void> {
    if (!this.#features || !this.#data) throw new TrainingError(explainNothing(reports));
    await this.#data.close();
    const features = { ...this.#features, ...ownFeatures };
    const { mapping } = this.#plan;
    const kept = { ...about, mapping, episodes: reports.map(({ kept: facts }) => facts) };
    await writeMeta(this.#open, {
      mapping,
      features,
      episodes: this.#written,
      tasks: [...this.#tasks.keys()],
      about: kept,
    });
  }
}

interface Adding {
  readonly aligned: AlignedEpisode;
  readonly piece: Piece;
  readonly numbers: readonly SetColumn[];
  readonly pictures: AsyncIterator<readonly Picture[]>;
  readonly task: string;
}

function explainNothing(reports: readonly EpisodeReport[]): string {
  const [first] = reports;
  if (!first) return "the version has no episodes";
  return `no episode has rows; the first, ${first.episodeId}, because ${first.leftOut}`;
}
