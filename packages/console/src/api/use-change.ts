import type { CallInput, Operation, Output } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { client } from "./client.ts";
import { explainFailure, explainRefusal, type Failure } from "./failure.ts";
import { plainCall } from "./plain-call.ts";
import { invalidate, noteOutcome } from "./queries.ts";

interface Attempts {
  readonly isRunning: boolean;
  readonly failure: Failure | undefined;
  /** Forgets the failure, when what led to it is edited. */
  clear(): void;
}

export interface Change<O extends Operation> extends Attempts {
  /** Returns undefined if it failed; `failure` then says why. */
  run(input: CallInput<O>, options?: { readonly timeoutMs: number }): Promise<Output<O> | undefined>;
}

/** Calls an operation that changes something; the answers of the `stale` operations are then asked for again. */
export function useChange<O extends Operation>(operation: O, ...stale: readonly Operation[]): Change<O> {
  const { attempt, ...attempts } = useAttempts(explainFailure);
  const run: Change<O>["run"] = async (input, options) => {
    const output = await attempt(() => noteOutcome(client.call(operation, input, options)));
    invalidate(...stale);
    return output;
  };
  return { ...attempts, run };
}

export interface Send extends Attempts {
  /** Returns undefined if it failed; `failure` then says why. An answer without a body is an empty object. */
  send(method: "GET" | "POST" | "DELETE", path: string, body?: unknown): Promise<Record<string, unknown> | undefined>;
}

/** Calls routes that are no operations, before the user is signed in. A refusal does not open the sign-in dialog. */
export function useSend(): Send {
  const { attempt, ...attempts } = useAttempts(explainRefusal);
  return {
    ...attempts,
    send: (method, path, body) =>
      attempt(async () => ((await plainCall(method, path, body)) ?? {}) as Record<string, unknown>),
  };
}

function useAttempts(explain: (error: unknown) => Failure) {
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<Failure | undefined>();
  const attempt = async <T>(call: () => Promise<T>): Promise<T | undefined> => {
    setRunning(true);
    setFailure(undefined);
    try {
      return await call();
    } catch (error) {
      setFailure(explain(error));
      return undefined;
    } finally {
      setRunning(false);
    }
  };
  return { attempt, isRunning, failure, clear: () => setFailure(undefined) };
}

/** The calls that are under way at once: a browser allows six for a host, and the page needs some meanwhile. */
const AT_ONCE = 3;

interface Progress {
  readonly done: number;
  readonly of: number;
}

export interface ManyChanges<O extends Operation> {
  /** Returns the inputs that failed. Each answer is handed on as it comes. */
  run(inputs: readonly CallInput<O>[], onAnswer?: (answer: Output<O>) => void): Promise<readonly CallInput<O>[]>;
  /** While it runs. */
  readonly progress: Progress | undefined;
  /** The last failure. */
  readonly failure: Failure | undefined;
}

/** Calls an operation that changes one thing for many of them. One that fails does not keep the others from being tried. */
export function useManyChanges<O extends Operation>(operation: O, ...stale: readonly Operation[]): ManyChanges<O> {
  const [progress, setProgress] = useState<Progress | undefined>();
  const [failure, setFailure] = useState<Failure | undefined>();
  const run = async (inputs: readonly CallInput<O>[], onAnswer?: (answer: Output<O>) => void) => {
    setFailure(undefined);
    setProgress({ done: 0, of: inputs.length });
    const waiting = [...inputs];
    const failed: CallInput<O>[] = [];
    let done = 0;
    const work = async () => {
      for (let input = waiting.shift(); input !== undefined; input = waiting.shift()) {
        try {
          const answer = await noteOutcome(client.call(operation, input));
          onAnswer?.(answer);
        } catch (error) {
          failed.push(input);
          setFailure(explainFailure(error));
        }
        done += 1;
        setProgress({ done, of: inputs.length });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    setProgress(undefined);
    invalidate(...stale);
    return failed;
  };
  return { run, progress, failure };
}
