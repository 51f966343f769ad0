import { type CoverageGrid, coverage } from "@downlink/protocol";
import { type ReadonlySignal, signal } from "@preact/signals";
import { client } from "../api/client.ts";
import { explainFailure, type Failure } from "../api/failure.ts";
import { noteOutcome } from "../api/queries.ts";
import { fromBase64 } from "../parts/from-base64.ts";
import type { ChangingSource } from "../timeline/lane-state.ts";
import type { Strip } from "../timeline/paint-row.ts";
import { planStrips } from "../timeline/strips.ts";
import { TileStore } from "../timeline/tile-store.ts";
import { startNsOf, TILE_BINS, TILE_ROWS, type TileKey, tilesFor, type Window } from "../timeline/tiles.ts";

const ALL_BITS = 255;

/** The cells of one tile, by the id of their device. */
type Tile = ReadonlyMap<string, Uint8Array>;

/** The coverage of some devices, asked for in tiles as they are looked at. */
export class GridSource implements ChangingSource {
  readonly #version = signal(0);
  readonly #store: TileStore<Tile>;
  readonly #projectId: string;
  #ids: readonly string[] = [];
  #shown = ALL_BITS;

  constructor(projectId: string) {
    this.#projectId = projectId;
    this.#store = new TileStore<Tile>({
      load: (key, aborted) => this.#load(key, aborted),
      onChange: () => this.#change(),
      retryAfterMs: (error) => explainFailure(error).retryAfterMs,
    });
  }

  /** Rises when more is known. */
  get version(): ReadonlySignal<number> {
    return this.#version;
  }

  get shown(): number {
    return this.#shown;
  }

  /** Shows these bits of the cells alone. */
  show(bits: number): void {
    if (bits === this.#shown) return;
    this.#shown = bits;
    this.#change();
  }

  get isLoading(): boolean {
    return this.#store.isLoading;
  }

  get failure(): Failure | undefined {
    const error = this.#store.failure;
    return error === undefined ? undefined : explainFailure(error);
  }

  /** Sets the devices in the order of the rows. Tiles hold rows by their order, so that another order starts over. */
  setDevices(ids: readonly string[]): void {
    if (ids.length === this.#ids.length && ids.every((id, at) => id === this.#ids[at])) return;
    this.#ids = ids;
    this.#store.clear();
    this.#change();
  }

  look(window: Window): void {
    this.#store.want(tilesFor(window));
  }

  stripsIn(window: Window): (row: number) => readonly Strip[] {
    const strips = planStrips(window, (key) => this.#store.best(key));
    return (row) => {
      const [block, id] = [Math.floor(row / TILE_ROWS), this.#ids[row]];
      return strips.flatMap(({ tile, ...strip }) => {
        const cells = id !== undefined && strip.block === block ? tile.get(id) : undefined;
        return cells ? [{ ...strip, cells }] : [];
      });
    };
  }

  refresh(most?: number): void {
    this.#store.refresh(most);
  }

  again(): void {
    this.#store.again();
    this.#change();
  }

  stop(): void {
    this.#store.clear();
  }

  #change(): void {
    this.#version.value += 1;
  }

  async #load(key: TileKey, aborted: AbortSignal): Promise<Tile> {
    const input = {
      projectId: this.#projectId,
      start: startNsOf(key),
      binNs: 2 ** key.level,
      bins: TILE_BINS,
      deviceIds: this.#ids.slice(key.block * TILE_ROWS, (key.block + 1) * TILE_ROWS),
    };
    return toTile(await noteOutcome(client.call(coverage.grid, input, { signal: aborted }), aborted));
  }
}

function toTile({ devices }: CoverageGrid): Tile {
  return new Map(devices.map(({ id, cells }) => [id, fromBase64(cells)]));
}
