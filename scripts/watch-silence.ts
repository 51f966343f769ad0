import type { EventEmitter } from "node:events";

/** An event of the test runner about a test, or about a file as if it were one. */
interface RunnerEvent {
  readonly name: string;
  readonly file?: string;
}

/**
 * Calls `onSilence` with the files that have not ended whenever no test of a run began or ended for so many milliseconds, which is more than
 * any single test may take. Then something never answers, or all tests have ended and something was left open, and Node would wait for ever.
 * A run that has ended is silent too, so that whoever watches it disposes of this.
 */
export function watchSilence(
  events: EventEmitter,
  silenceMs: number,
  onSilence: (files: readonly string[]) => void,
): Disposable {
  const running = new Set<string>();
  let silence = startSilence();
  events.on("test:dequeue", ({ name, file }: RunnerEvent) => {
    if (name === file) running.add(name);
    hear();
  });
  events.on("test:complete", ({ name, file }: RunnerEvent) => {
    if (name === file) running.delete(name);
    hear();
  });
  return { [Symbol.dispose]: () => clearTimeout(silence) };

  function hear(): void {
    clearTimeout(silence);
    silence = startSilence();
  }

  function startSilence(): NodeJS.Timeout {
    return setTimeout(() => onSilence([...running]), silenceMs).unref();
  }
}
