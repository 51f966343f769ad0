import { createHash } from "node:crypto";
import type { TrainingFormat } from "@downlink/protocol";
import { setWriters } from "@downlink/training";
import type { VersionEpisode } from "./version-episodes.ts";

interface Made {
  readonly format: TrainingFormat;
  readonly datasetId: string;
  readonly versionNumber: number;
  /** The mapping as JSON. */
  readonly mapping: string;
}

/** Computes what is equal for sets with equal files. */
export class Identity {
  readonly #hash = createHash("sha256");

  constructor({ format, datasetId, versionNumber, mapping }: Made) {
    this.#add({ format, writerVersion: setWriters[format].version, datasetId, versionNumber, mapping });
  }

  add({ id, startNs, endNs, metadata, sources }: VersionEpisode): void {
    const contents = sources.map(({ sha256 }) => sha256 ?? null);
    this.#add({ id, startNs: String(startNs), endNs: String(endNs), metadata, contents });
  }

  #add(value: object): void {
    this.#hash.update(`${JSON.stringify(value)}\n`);
  }

  digest(): string {
    return this.#hash.digest("hex");
  }
}
