import type { CallInput, Operation } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { client } from "./client.ts";
import { explainFailure, type Failure } from "./failure.ts";
import { invalidate, noteFailure, noteSuccess } from "./queries.ts";

/** The calls that are under way at once: a browser allows six for a host, and the page needs some meanwhile. */
const AT_ONCE = 3;

export interface Progress {
  readonly done: number;
  readonly of: number;
}

export interface Many<O extends Operation> {
  /** Returns how many succeeded. */
  run(inputs: readonly CallInput<O>[]): Promise<number>;
  /** While it runs. */
  readonly progress: Progress | undefined;
  /** The last failure. */
  readonly failure: Failure | undefined;
}

/** Calls an operation that changes one thing for many of them. One that fails does not keep the others from being tried. */
export function useMany<O extends Operation>(operation: O, ...stale: readonly Operation[]): Many<O> {
  const [progress, setProgress] = useState<Progress | undefined>();
  const [failure, setFailure] = useState<Failure | undefined>();
  const run = async (inputs: readonly CallInput<O>[]) => {
    setFailure(undefined);
    setProgress({ done: 0, of: inputs.length });
    const waiting = [...inputs];
    let [done, succeeded] = [0, 0];
    const work = async () => {
      for (let input = waiting.shift(); input !== undefined; input = waiting.shift()) {
        try {
          await client.call(operation, input);
          noteSuccess();
          succeeded += 1;
        } catch (error) {
          noteFailure(error);
          setFailure(explainFailure(error));
        }
        done += 1;
        setProgress({ done, of: inputs.length });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    setProgress(undefined);
    invalidate(...stale);
    return succeeded;
  };
  return { run, progress, failure };
}
