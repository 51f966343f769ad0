import { useState } from "preact/hooks";
import { explainFailure, type Failure } from "./failure.ts";
import { plainCall } from "./plain-call.ts";

export interface Send {
  /** Returns undefined if it failed; `failure` then says why. An answer without a body is an empty object. */
  send(method: "GET" | "POST" | "DELETE", path: string, body?: unknown): Promise<Record<string, unknown> | undefined>;
  readonly isRunning: boolean;
  readonly failure: Failure | undefined;
}

/** Calls routes that are no operations, before the user is signed in. A refusal does not open the sign-in dialog. */
export function useSend(): Send {
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<Failure | undefined>();
  return {
    isRunning,
    failure,
    async send(method, path, body) {
      setRunning(true);
      setFailure(undefined);
      try {
        return ((await plainCall(method, path, body)) ?? {}) as Record<string, unknown>;
      } catch (error) {
        setFailure(explainFailure(error));
        return undefined;
      } finally {
        setRunning(false);
      }
    },
  };
}
