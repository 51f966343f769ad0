import { type CallInput, NEXT_CURSOR_HEADER, type Operation, type Output } from "@downlink/protocol";
import { useEffect, useRef, useState } from "preact/hooks";
import { client } from "./client.ts";
import { explainFailure, type Failure } from "./failure.ts";
import { noteOutcome, signIns, watchList } from "./queries.ts";
import { queryKey } from "./query-key.ts";

/** A list that is read onwards from a cursor, so that it stays exact while others add to it. `useRows` reads a list at any place of it. */
export interface Pages<T> {
  readonly rows: readonly T[];
  /** Nothing has been answered yet. */
  readonly isNew: boolean;
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly failure: Failure | undefined;
  more(): void;
  /** Reads from the beginning again. */
  again(): void;
}

interface Read<T> {
  readonly rows: readonly T[];
  readonly cursor: string | undefined;
  readonly isNew: boolean;
}

const nothing = { rows: [], cursor: undefined, isNew: true } as const;

interface Options<O extends Operation, T> {
  readonly rowsOf: (output: Output<O>) => readonly T[];
  readonly isEnabled?: boolean;
}

/** Reads a list page by page. It starts over when its input changes, and when its data is old. */
export function usePages<O extends Operation, T>(
  operation: O,
  input: CallInput<O>,
  { rowsOf, isEnabled = true }: Options<O, T>,
): Pages<T> {
  const [read, setRead] = useState<Read<T>>(nothing);
  const [failure, setFailure] = useState<Failure | undefined>();
  const [isLoading, setLoading] = useState(false);
  const round = useRef(0);
  const [path, text] = queryKey(operation.path, input);
  const load = async (from: Read<T>) => {
    const ours = ++round.current;
    setLoading(true);
    try {
      const given = { ...(input as object), ...(from.cursor && { cursor: from.cursor }) } as CallInput<O>;
      const { output, headers } = await noteOutcome(client.callWithHeaders(operation, given));
      if (ours !== round.current) return;
      const cursor = (headers as Readonly<Record<string, string>>)[NEXT_CURSOR_HEADER];
      setRead({ rows: [...from.rows, ...rowsOf(output as Output<O>)], cursor, isNew: false });
      setFailure(undefined);
    } catch (error) {
      if (ours === round.current) setFailure(explainFailure(error));
    } finally {
      if (ours === round.current) setLoading(false);
    }
  };
  const again = () => void load(nothing);
  // Another user looks from now on, who may not be allowed to see the data of the former one.
  useEffect(() => setRead(nothing), [signIns.value]);
  useEffect(() => {
    if (!isEnabled) return;
    again();
    return watchList(operation, { again });
  }, [path, text, isEnabled, signIns.value]);
  return { ...read, hasMore: read.cursor !== undefined, isLoading, failure, more: () => void load(read), again };
}
