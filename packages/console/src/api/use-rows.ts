import type { CallInput, Operation, Output } from "@downlink/protocol";
import { type QueryKey, QueryObserver } from "@tanstack/query-core";
import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import { client } from "./client.ts";
import { explainFailure, type Failure } from "./failure.ts";
import { countRows, pagesOf } from "./pages-of.ts";
import { invalidate, noteOutcome, queries, signIns, watchList } from "./queries.ts";
import { queryKey } from "./query-key.ts";
import { countNew, takeOver } from "./take-over.ts";

const PAGE_ROWS = 200;

/** A list of which only the rows in sight are asked for. */
export interface Rows<T> {
  /** Undefined while it is not here. */
  at(index: number): T | undefined;
  /** How many rows there are, as far as that is known. */
  readonly count: number;
  /** Nothing of this list has been answered yet. */
  readonly isNew: boolean;
  readonly isLoading: boolean;
  readonly failure: Failure | undefined;
  /** Says which rows are in sight. */
  look(first: number, last: number): void;
  again(): void;
  /** Others came or went since; undefined if none did. */
  readonly moved: Moved | undefined;
}

/** Rows that came or went since. The list shows them on request, so that no row moves while it is read. */
export interface Moved {
  readonly newCount: number;
  show(): void;
}

type RowOf<O extends Operation> = Output<O> extends readonly (infer T)[] ? T : never;

/**
 * Asks a list of the contract in pages of 200 rows. `total` is the expected number of rows. The count does not fall when a user jumps to
 * rows that are not here yet: the table would become too short for them, and the browser would scroll back.
 */
export function useRows<O extends Operation>(
  operation: O,
  input: CallInput<O>,
  { total, isEnabled = true }: { total?: number | undefined; isEnabled?: boolean } = {},
): Rows<RowOf<O>> {
  const [{ first, last }, setLooked] = useState({ first: 0, last: PAGE_ROWS - 1 });
  const list = queryKey(operation.path, input)[1];
  const answered = useRef<{ readonly list: string; readonly count: number }>(undefined);
  const inputOf = (page: number) =>
    ({ ...(input as object), offset: page * PAGE_ROWS, limit: PAGE_ROWS }) as CallInput<O>;
  const before = answered.current?.list === list ? answered.current.count : 0;
  const most = Math.max(total ?? 0, before);
  const wanted = pagesOf({ first, last }, { rows: PAGE_ROWS, total: total === undefined ? undefined : most });
  const loaded = useWanted(operation, { inputOf, wanted, isEnabled, list });
  // Rows are looked up by the thousand while many are selected, so each page is looked up once in a draw.
  const pages = new Map<number, readonly RowOf<O>[] | undefined>();
  const pageAt = (page: number) => {
    if (!pages.has(page)) pages.set(page, queries.getQueryData(queryKey(operation.path, inputOf(page))));
    return pages.get(page);
  };
  const seen = wanted.findLast((page) => pageAt(page) !== undefined);
  if (seen !== undefined)
    answered.current = {
      list,
      count: countRows({ page: seen, length: pageAt(seen)!.length }, { rows: PAGE_ROWS, most }),
    };
  const isNew = answered.current?.list !== list;
  return {
    at: (index) => pageAt(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS],
    count: isNew ? (total ?? 0) : answered.current!.count,
    isNew,
    ...loaded,
    look: (from, to) =>
      setLooked((before) => (before.first === from && before.last === to ? before : { first: from, last: to })),
  };
}

interface Wanted<O extends Operation> {
  readonly inputOf: (page: number) => CallInput<O>;
  readonly wanted: readonly number[];
  readonly isEnabled: boolean;
  readonly list: string;
}

/** Asks for the wanted pages when they change, and again when their data is old. */
function useWanted<O extends Operation>(operation: O, { inputOf, wanted, isEnabled, list }: Wanted<O>) {
  const [, render] = useReducer((count: number) => count + 1, 0);
  const [failure, setFailure] = useState<Failure | undefined>();
  const [moved, setMoved] = useState<{ readonly list: string; readonly newCount: number } | undefined>();
  const keys = wanted.map((page) => queryKey(operation.path, inputOf(page)));
  const load = async (page: number) => {
    const input = inputOf(page);
    const key = queryKey(operation.path, input);
    try {
      await queries.fetchQuery({ queryKey: key, queryFn: ({ signal }) => client.call(operation, input, { signal }) });
      setFailure(undefined);
    } catch (error) {
      setFailure(explainFailure(error));
    }
    render(undefined);
  };
  const again = () => void Promise.all(wanted.map(load));
  const renew = async () => {
    const renewed = await renewPages(operation, wanted.map(inputOf));
    if (renewed.isMoved) setMoved({ list, newCount: renewed.newCount });
    else render(undefined);
  };
  const identity = keys.map(([, text]) => text).join();
  useEffect(() => {
    if (!isEnabled) return;
    const release = holdQueries(keys);
    const unwatch = watchList(operation, { again, renew });
    again();
    return () => {
      unwatch();
      release();
    };
  }, [operation.path, identity, isEnabled, signIns.value]);
  const show = () => {
    setMoved(undefined);
    invalidate(operation);
  };
  const isLoading = keys.some((key) => queries.getQueryState(key)?.fetchStatus === "fetching");
  return { again, failure, isLoading, moved: moved?.list === list ? { newCount: moved.newCount, show } : undefined };
}

/** Keeps answers for as long as a list shows them: without an observer they are forgotten after five minutes. */
function holdQueries(keys: readonly QueryKey[]): () => void {
  const held = keys.map((queryKey) => new QueryObserver(queries, { queryKey, enabled: false }).subscribe(() => {}));
  return () => {
    for (const release of held) release();
  };
}

/** Asks again for pages that are here, and gives their rows the new contents in their places. */
async function renewPages<O extends Operation>(operation: O, inputs: readonly CallInput<O>[]) {
  const all = await Promise.all(inputs.map((input) => renewPage(operation, input)));
  const renewed = all.filter((page) => page !== undefined);
  const newCount = countNew(
    renewed.flatMap((page) => page.shown),
    renewed.flatMap((page) => page.fresh),
  );
  return { isMoved: renewed.some((page) => page.isMoved), newCount };
}

/** A failed call leaves the shown rows as they are, and throws, so that it is repeated. */
async function renewPage<O extends Operation>(operation: O, input: CallInput<O>) {
  const key = queryKey(operation.path, input);
  const shown = queries.getQueryData(key) as readonly object[] | undefined;
  if (!shown) return undefined;
  const fresh = (await noteOutcome(client.call(operation, input))) as readonly object[];
  const { rows, isMoved } = takeOver(shown, fresh);
  if (queries.getQueryData(key) === shown) queries.setQueryData(key, rows);
  return { shown, fresh, isMoved };
}
