import { previewLimits } from "./limits.ts";
import type { FromWorker, OpenedSlice, PreviewAnswers, PreviewRequests, RequestKind, ToWorker } from "./requests.ts";

/** The parts of a worker that are used. */
export interface PreviewWorker {
  onmessage: ((event: MessageEvent<FromWorker>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
  postMessage(message: ToWorker): void;
  terminate(): void;
}

export interface PreviewSession {
  readonly opened: Promise<OpenedSlice>;
  ask<K extends RequestKind>(kind: K, request: PreviewRequests[K]): Promise<PreviewAnswers[K]>;
  /** Ends the worker. Whatever was asked is refused. */
  close(): void;
}

export interface SessionOptions {
  readonly onProgress?: (bytes: number) => void;
  readonly silenceMs?: number;
}

/** Why a look ended, as a sentence for people. */
export class PreviewError extends Error {
  override readonly name = "PreviewError";
}

/** The number among the waiting requests of the one for the slice itself. */
const OPENING = 0;

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: PreviewError): void;
}

/** Opens an export in a worker of its own, and ends that when nothing is heard of it while something is asked. */
export function openSession(worker: PreviewWorker, link: string, options: SessionOptions = {}): PreviewSession {
  const waiting = new Map<number, Waiting>();
  const opening = Promise.withResolvers<OpenedSlice>();
  opening.promise.catch(() => undefined);
  waiting.set(OPENING, { resolve: (opened) => opening.resolve(opened as OpenedSlice), reject: opening.reject });
  let ended: PreviewError | undefined;
  let nextId = OPENING + 1;
  const end = (problem: string) => {
    if (ended) return;
    ended = new PreviewError(problem);
    watch.stop();
    worker.terminate();
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  };
  const watch = watchSilence(options.silenceMs ?? previewLimits.silenceMs, () =>
    end("The preview made no progress for too long, and was stopped."),
  );
  const settle = (id: number, act: (one: Waiting) => void) => {
    const one = waiting.get(id);
    waiting.delete(id);
    if (one) act(one);
  };
  worker.onmessage = ({ data }) => {
    if (data.type === "alive" && waiting.has(OPENING)) options.onProgress?.(data.bytes);
    if (data.type === "failed") end(data.problem);
    if (data.type === "opened") settle(OPENING, ({ resolve }) => resolve(data.opened));
    if (data.type === "answer") settle(data.id, ({ resolve }) => resolve(data.answer));
    if (data.type === "refused") settle(data.id, ({ reject }) => reject(new PreviewError(data.problem)));
    if (!ended) watch.heard(waiting.size > 0);
  };
  worker.onerror = (event) => end(`The preview failed: ${event.message}`);
  worker.postMessage({ type: "open", link });
  watch.heard(true);
  return {
    opened: opening.promise,
    ask: (kind, request) => {
      if (ended) return Promise.reject(ended);
      const id = nextId++;
      const answer = new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
      worker.postMessage({ type: "ask", id, kind, request } as ToWorker);
      watch.heard(true);
      return answer as Promise<PreviewAnswers[typeof kind]>;
    },
    close: () => end("The preview was closed."),
  };
}

function watchSilence(silenceMs: number, onSilence: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    heard(isWaiting: boolean) {
      clearTimeout(timer);
      timer = isWaiting ? setTimeout(onSilence, silenceMs) : undefined;
    },
    stop: () => clearTimeout(timer),
  };
}
