import type { CallInput, Operation, Output } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { client } from "./client.ts";
import { explainFailure, type Failure } from "./failure.ts";
import { invalidate, noteFailure, noteSuccess } from "./queries.ts";

export interface Change<O extends Operation> {
  /** Returns undefined if it failed; `failure` then says why. */
  run(input: CallInput<O>): Promise<Output<O> | undefined>;
  readonly isRunning: boolean;
  readonly failure: Failure | undefined;
  /** Forgets the failure, when what led to it is edited. */
  clear(): void;
}

/** Calls an operation that changes something; the answers of the `stale` operations are then asked for again. */
export function useChange<O extends Operation>(operation: O, ...stale: readonly Operation[]): Change<O> {
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<Failure | undefined>();
  return {
    isRunning,
    failure,
    clear: () => setFailure(undefined),
    async run(input) {
      setRunning(true);
      setFailure(undefined);
      try {
        const output = await client.call(operation, input);
        noteSuccess();
        return output;
      } catch (error) {
        noteFailure(error);
        setFailure(explainFailure(error));
        return undefined;
      } finally {
        setRunning(false);
        invalidate(...stale);
      }
    },
  };
}
