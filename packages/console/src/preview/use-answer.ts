import { useEffect, useState } from "preact/hooks";
import type { PreviewAnswers, PreviewRequests, RequestKind } from "./requests.ts";
import type { PreviewSession } from "./session.ts";

export interface AnswerState<K extends RequestKind> {
  /** That of the request before, until the new one is here. */
  readonly answer?: PreviewAnswers[K];
  readonly problem?: string;
}

/** Asks the worker, and asks again when the request changes. */
export function useAnswer<K extends RequestKind>(
  session: PreviewSession,
  kind: K,
  request: PreviewRequests[K],
): AnswerState<K> {
  const [state, setState] = useState<AnswerState<K>>({});
  useEffect(() => {
    let isLeft = false;
    session
      .ask(kind, request)
      .then((answer) => !isLeft && setState({ answer }))
      .catch((error: Error) => !isLeft && setState({ problem: error.message }));
    return () => {
      isLeft = true;
    };
  }, [session, kind, JSON.stringify(request)]);
  return state;
}
