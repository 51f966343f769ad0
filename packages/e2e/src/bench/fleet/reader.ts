import { RawConnection } from "../api/raw-connection.ts";

export interface ReadTimes {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** The number of answers that were no success, and of broken connections. */
  readonly failed: number;
}

interface Options {
  readonly port: number;
  readonly token: string;
  readonly targets: readonly string[];
}

const PAUSE_MS = 20;

/** A client that reads the API the whole time, one request after another. */
export class Reader {
  readonly #options: Options;
  #connection: RawConnection | undefined;
  #timesMs: number[] = [];
  #failed = 0;
  #isEnding = false;
  readonly #running: Promise<void>;

  constructor(options: Options) {
    this.#options = options;
    this.#running = this.#run();
  }

  /** Returns the times since the last call. */
  takeTimes(): ReadTimes {
    const sorted = this.#timesMs.sort((a, b) => a - b);
    const quantile = (part: number) =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
    const times = {
      count: sorted.length,
      p50Ms: quantile(0.5),
      p99Ms: quantile(0.99),
      maxMs: quantile(1),
      failed: this.#failed,
    };
    this.#timesMs = [];
    this.#failed = 0;
    return times;
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#running;
    this.#connection?.close();
  }

  async #run(): Promise<void> {
    for (let at = 0; !this.#isEnding; at++) {
      await this.#read(this.#options.targets[at % this.#options.targets.length]!);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }

  async #read(target: string): Promise<void> {
    const { port, token } = this.#options;
    try {
      this.#connection ??= await RawConnection.open(port);
      const startedMs = performance.now();
      const request = `GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`;
      const { status } = await this.#connection.send(request);
      this.#timesMs.push(performance.now() - startedMs);
      if (status !== 200) this.#failed += 1;
    } catch {
      this.#failed += 1;
      this.#connection?.close();
      this.#connection = undefined;
    }
  }
}
