export interface StallWatch extends Disposable {
  /** Aborted when nothing has moved for so long. */
  readonly signal: AbortSignal;
  progress(graceMs?: number): void;
  /** Nothing is waited for until there is progress again. */
  pause(): void;
}

export function watchForStall(timeoutMs: number): StallWatch {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let timer: NodeJS.Timeout | undefined = setTimeout(abort, timeoutMs);
  return {
    signal: controller.signal,
    progress(graceMs = 0) {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = setTimeout(abort, timeoutMs + graceMs);
    },
    pause: () => clearTimeout(timer),
    [Symbol.dispose]() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
