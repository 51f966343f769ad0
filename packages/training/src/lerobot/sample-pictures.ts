import { DecodeError } from "@downlink/messages/value";
import { countLevels } from "@downlink/pictures/in-thread";
import type { Picture } from "../align/read-pictures.ts";
import { TrainingError } from "../episodes/episode.ts";
import { type FeatureStats, PictureTally } from "./stats.ts";

/** Pictures of each camera and episode that statistics are made of. */
const SAMPLES = 10;

/** Makes the statistics of the pictures of an episode from some of them, at equal distances. */
export class PictureSampler {
  readonly #rows: ReadonlySet<number>;
  readonly #tallies: PictureTally[] = [];

  constructor(rowCount: number) {
    const count = Math.min(SAMPLES, rowCount);
    const step = count > 1 ? (rowCount - 1) / (count - 1) : 0;
    this.#rows = new Set(Array.from({ length: count }, (_, sample) => Math.round(sample * step)));
  }

  /** Sees the pictures of a row, one of each camera. */
  async see(row: number, pictures: readonly Picture[]): Promise<void> {
    if (!this.#rows.has(row)) return;
    for (const [camera, picture] of pictures.entries()) {
      this.#tallies[camera] ??= new PictureTally();
      this.#tallies[camera].add(await countLevels(picture).catch(refuse));
    }
  }

  stats(cameras: readonly string[]): [string, FeatureStats][] {
    return cameras.map((name, camera) => [name, this.#tallies[camera]!.stats()]);
  }
}

function refuse(error: unknown): never {
  throw error instanceof DecodeError ? new TrainingError(error.message, { cause: error }) : error;
}
