import type { EventEmitter } from "node:events";

/** What the test runner says of a test, and of each file as if it were one. */
interface RunnerEvent {
  readonly name: string;
  readonly file?: string;
}

/**
 * Gives up a run in which no test begins or ends for so long, in milliseconds: more than any single test may take. Its tests
 * are over then, but a file's process goes on because something was left open, for which Node waits for ever.
 */
export function giveUpSilent(events: EventEmitter, silenceMs: number, giveUp: (reason: Error) => void): void {
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

  function hear(): void {
    clearTimeout(silence);
    silence = startSilence();
  }

  function startSilence(): NodeJS.Timeout {
    const tell = () => {
      const files = [...running].join(", ");
      giveUp(new Error(`nothing was heard of for ${silenceMs / 1000} s: something was left open in ${files}`));
    };
    return setTimeout(tell, silenceMs).unref();
  }
}
