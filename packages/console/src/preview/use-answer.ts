import { useEffect, useRef, useState } from "preact/hooks";
import type { PreviewAnswers, PreviewRequests, RequestKind } from "./requests.ts";
import type { PreviewSession } from "./session.ts";

export interface AnswerState<K extends RequestKind> {
  /** That of a request before, until the new one is here. */
  readonly answer?: PreviewAnswers[K];
  readonly problem?: string;
}

/**
 * Asks the worker, and asks again when the request changes. One request is on its way at a time, and after it the newest: while a recording
 * plays, the worker shows as many pictures as it can.
 */
export function useAnswer<K extends RequestKind>(
  session: PreviewSession,
  kind: K,
  request: PreviewRequests[K],
): AnswerState<K> {
  const [state, setState] = useState<AnswerState<K>>({});
  const newest = useRef(request);
  const asker = useRef<{ ask(): void } | null>(null);
  newest.current = request;
  useEffect(() => {
    const begun = askNewest(session, kind, { newest: () => newest.current, set: setState });
    asker.current = begun;
    return begun.leave;
  }, [session, kind]);
  useEffect(() => asker.current!.ask(), [session, kind, JSON.stringify(request)]);
  return state;
}

interface Asking<K extends RequestKind> {
  newest(): PreviewRequests[K];
  set(state: AnswerState<K>): void;
}

function askNewest<K extends RequestKind>(session: PreviewSession, kind: K, { newest, set }: Asking<K>) {
  let isLeft = false;
  let asked: PreviewRequests[K] | undefined;
  const ask = () => {
    if (isLeft || asked !== undefined) return;
    const request = newest();
    asked = request;
    const settle = (state: AnswerState<K>) => {
      asked = undefined;
      if (isLeft) return;
      set(state);
      if (JSON.stringify(newest()) !== JSON.stringify(request)) ask();
    };
    session.ask(kind, request).then(
      (answer) => settle({ answer }),
      (error: Error) => settle({ problem: error.message }),
    );
  };
  const leave = () => {
    isLeft = true;
  };
  return { ask, leave };
}
