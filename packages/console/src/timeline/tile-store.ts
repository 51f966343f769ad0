import { childrenOf, nameOf, parentOf, type TileKey } from "./tiles.ts";

const MOST_AT_ONCE = 4;
const MOST_KEPT = 400;
const MOST_GENERATIONS = 12;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

export interface StoreOptions<T> {
  readonly load: (key: TileKey, signal: AbortSignal) => Promise<T>;
  /** Something is here, or failed. */
  readonly onChange: () => void;
  /** How long to wait before a tile that failed is asked for again, if the service said so. */
  readonly retryAfterMs?: (error: unknown) => number | undefined;
  readonly nowMs?: () => number;
}

interface Kept<T> {
  readonly tile: T;
  readonly atMs: number;
  isOld: boolean;
}

interface Failed {
  readonly error: unknown;
  readonly times: number;
  readonly againAtMs: number;
}

/** The tiles that are here. It asks for those that are wanted, four at a time, the first ones first, and gives up those that are not wanted any more. */
export class TileStore<T> {
  readonly #options: StoreOptions<T>;
  readonly #kept = new Map<string, Kept<T>>();
  readonly #failed = new Map<string, Failed>();
  readonly #loading = new Map<string, AbortController>();
  #wanted: readonly TileKey[] = [];

  constructor(options: StoreOptions<T>) {
    this.#options = options;
  }

  /** Says which tiles are looked at, the most important first. */
  want(keys: readonly TileKey[]): void {
    this.#wanted = keys;
    const names = new Set(keys.map(nameOf));
    for (const [name, controller] of this.#loading)
      if (!names.has(name)) {
        this.#loading.delete(name);
        controller.abort();
      }
    for (const name of names) this.#touch(name);
    this.#forget(names);
    this.#askNext();
  }

  get(key: TileKey): T | undefined {
    return this.#kept.get(nameOf(key))?.tile;
  }

  /** The tile itself, or what is known of its time by wider bins, or by narrower ones. */
  best(key: TileKey): readonly { readonly key: TileKey; readonly tile: T }[] {
    let at: TileKey | undefined = key;
    for (let up = 0; at && up < MOST_GENERATIONS; up++, at = parentOf(at)) {
      const tile = this.get(at);
      if (tile !== undefined) return [{ key: at, tile }];
    }
    return childrenOf(key).flatMap((child) => {
      const tile = this.get(child);
      return tile === undefined ? [] : [{ key: child, tile }];
    });
  }

  get isLoading(): boolean {
    return this.#loading.size > 0;
  }

  /** Why a tile that is looked at is not here. */
  get failure(): unknown {
    return this.#wanted.map((key) => this.#failed.get(nameOf(key))?.error).find((error) => error !== undefined);
  }

  /** Asks again for tiles in sight: for the `most` that were asked for the longest ago. They stay in sight meanwhile. */
  refresh(most = Number.POSITIVE_INFINITY): void {
    if (most === Number.POSITIVE_INFINITY) for (const kept of this.#kept.values()) kept.isOld = true;
    const looked = this.#wanted.map((key) => this.#kept.get(nameOf(key))).filter((kept) => kept !== undefined);
    for (const kept of looked.toSorted((a, b) => a.atMs - b.atMs).slice(0, most)) kept.isOld = true;
    this.#askNext();
  }

  /** Asks at once for what failed. */
  again(): void {
    this.#failed.clear();
    this.#askNext();
  }

  clear(): void {
    for (const controller of this.#loading.values()) controller.abort();
    this.#loading.clear();
    this.#kept.clear();
    this.#failed.clear();
    this.#wanted = [];
  }

  #askNext(): void {
    const nowMs = this.#nowMs();
    for (const key of this.#wanted) {
      if (this.#loading.size >= MOST_AT_ONCE) return;
      const name = nameOf(key);
      const kept = this.#kept.get(name);
      if (this.#loading.has(name) || (kept && !kept.isOld)) continue;
      if ((this.#failed.get(name)?.againAtMs ?? 0) > nowMs) continue;
      void this.#load(key, name);
    }
  }

  async #load(key: TileKey, name: string): Promise<void> {
    const controller = new AbortController();
    this.#loading.set(name, controller);
    try {
      const tile = await this.#options.load(key, controller.signal);
      if (controller.signal.aborted) return;
      this.#kept.delete(name);
      this.#kept.set(name, { tile, atMs: this.#nowMs(), isOld: false });
      this.#failed.delete(name);
    } catch (error) {
      if (controller.signal.aborted) return;
      this.#fail(name, error);
    }
    this.#loading.delete(name);
    this.#askNext();
    this.#options.onChange();
  }

  #fail(name: string, error: unknown): void {
    const times = (this.#failed.get(name)?.times ?? 0) + 1;
    const doubledMs = Math.min(FIRST_WAIT_MS * 2 ** (times - 1), LONGEST_WAIT_MS);
    const waitMs = this.#options.retryAfterMs?.(error) ?? doubledMs;
    this.#failed.set(name, { error, times, againAtMs: this.#nowMs() + waitMs });
  }

  #touch(name: string): void {
    const kept = this.#kept.get(name);
    if (!kept) return;
    this.#kept.delete(name);
    this.#kept.set(name, kept);
  }

  /** Forgets first the tiles that were in sight the longest ago; a map keeps the order in which things were put in. */
  #forget(wanted: ReadonlySet<string>): void {
    for (const name of this.#kept.keys()) {
      if (this.#kept.size <= MOST_KEPT) return;
      if (!wanted.has(name)) this.#kept.delete(name);
    }
  }

  #nowMs(): number {
    return (this.#options.nowMs ?? Date.now)();
  }
}
