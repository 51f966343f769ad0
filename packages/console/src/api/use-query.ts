import type { CallInput, Operation, Output } from "@downlink/protocol";
import { QueryObserver } from "@tanstack/query-core";
import { useEffect, useReducer, useState } from "preact/hooks";
import { client } from "./client.ts";
import { explainFailure, type Failure } from "./failure.ts";
import { queries } from "./queries.ts";
import { queryKey } from "./query-key.ts";

export interface Query<T> {
  /** The newest answer; while another input is asked for, that of the input before. */
  readonly data: T | undefined;
  readonly failure: Failure | undefined;
  readonly isLoading: boolean;
  /** The data is that of another input. */
  readonly isOld: boolean;
  /** When the data was answered, in milliseconds since 1970. */
  readonly updatedAtMs: number;
  again(): void;
}

export interface QueryOptions {
  readonly isEnabled?: boolean;
  /** How often it is asked again while the page is visible. Absent for never. */
  readonly pollMs?: number | undefined;
}

/** Asks an operation of the contract, and asks again when its input changes. Answers are shared by all who ask the same. */
export function useQuery<O extends Operation>(
  operation: O,
  input: CallInput<O>,
  options: QueryOptions = {},
): Query<Output<O>> {
  const fetchOne = ({ signal }: { signal: AbortSignal }) => client.call(operation, input, { signal });
  return useFetched<Output<O>>(queryKey(operation.path, input), fetchOne, options);
}

/** Fetches anything under a key. */
export function useFetched<T>(
  key: readonly [string, string],
  queryFn: (options: { signal: AbortSignal }) => Promise<T>,
  { isEnabled = true, pollMs }: QueryOptions,
): Query<T> {
  const options = {
    queryKey: key,
    queryFn,
    enabled: isEnabled,
    placeholderData: (before: T | undefined) => before,
    ...(pollMs === undefined ? {} : { refetchInterval: () => jittered(pollMs) }),
  };
  const [, render] = useReducer((count: number) => count + 1, 0);
  const [observer] = useState(() => new QueryObserver<T>(queries, options as never));
  useEffect(() => observer.subscribe(() => render(undefined)), [observer]);
  useEffect(() => observer.setOptions(options as never), [...key, isEnabled, pollMs]);
  const defaulted = queries.defaultQueryOptions(options as never);
  const result = observer.getOptimisticResult(defaulted as never);
  return {
    data: result.data as T | undefined,
    failure: result.error ? explainFailure(result.error) : undefined,
    isLoading: result.isFetching,
    isOld: result.isPlaceholderData,
    updatedAtMs: result.dataUpdatedAt,
    again: () => void observer.refetch(),
  };
}

/** Pages that were opened at the same moment do not go on asking at the same moment. */
function jittered(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}
