/** The exit code of a process that was told to stop and did not come to its end. */
export const STUCK_EXIT_CODE = 3;
/** Everything that a process closes takes seconds; a network that went silent would take for ever. */
const CLOSING_MS = 30_000;

/** Knows what a process that stops is closing at this moment. */
export class StopSteps {
  #current = "what is under way";

  /** The name of the last step that was begun. */
  get current(): string {
    return this.#current;
  }

  /** Adds something to what is closed at the end, with the name of that step. */
  use<T extends Disposable | AsyncDisposable>(opened: AsyncDisposableStack, step: string, part: T): T {
    opened.use(part);
    opened.defer(() => this.#begin(step)); // the last one is closed first: this runs just before
    return part;
  }

  /** Everything is closed; a process that lives on is held by something that was never closed. */
  end(): void {
    this.#begin("what was never closed");
  }

  #begin(step: string): void {
    this.#current = step;
  }
}

interface LateExit {
  readonly steps: StopSteps;
  readonly log: { fatal(details: object, message: string): void };
  /** How long calls are taken, and what is under way may take, before anything is closed. */
  readonly drainSeconds: number;
  readonly graceSeconds: number;
  readonly closingMs?: number;
}

/** From now on the process has so long to end by itself; after that it says what it waits for, and ends. */
export function exitIfStuck({ steps, log, drainSeconds, graceSeconds, closingMs = CLOSING_MS }: LateExit): void {
  const exit = () => {
    const open = process.getActiveResourcesInfo();
    log.fatal({ step: steps.current, open }, "this process was told to stop, and one step does not end; it exits");
    process.exit(STUCK_EXIT_CODE);
  };
  setTimeout(exit, (drainSeconds + graceSeconds) * 1000 + closingMs).unref();
}
