import type { FilteredList } from "./filtered-list.ts";

export interface Call {
  readonly list: FilteredList;
  readonly order: string;
  readonly limit: number;
  /** The path and the query. */
  readonly target: string;
}

export interface Measured extends Call {
  readonly medianMs: number;
  readonly rows: number;
}

/** Returns the number of rows. Throws if the answer is no list. */
export type Get = (target: string) => Promise<number>;

/** A call that takes this long is slow in any case, so it is measured once. */
const SLOW_MS = 1000;

export const REFERENCE = "/v1/projects";
export const LIMITS = [100, 2000] as const;

export function callsOf(list: FilteredList): Call[] {
  return list.orders.flatMap((order) =>
    LIMITS.map((limit) => {
      const [sortBy, sortOrder] = order.split(" ");
      const sorted: Record<string, string> = sortOrder === undefined ? {} : { sortBy: sortBy!, sortOrder };
      const query = new URLSearchParams({ limit: String(limit), ...list.query, ...sorted });
      return { list, order, limit, target: `${list.path}?${query}` };
    }),
  );
}

export function listOver({ url, adminKey }: { readonly url: string; readonly adminKey: string }): Get {
  const headers = { authorization: `Bearer ${adminKey}` };
  return async (target) => {
    const answer = await fetch(`${url}${target}`, { headers });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`GET ${target} answered ${answer.status}: ${text}`);
    const body = JSON.parse(text) as unknown[] | { readonly episodes?: unknown[]; readonly devices?: unknown[] };
    return (Array.isArray(body) ? body : (body.episodes ?? body.devices ?? [])).length;
  };
}

/** Returns the median of that many runs after one that is not counted; of a single run if that one took a second. */
export async function measure(get: Get, target: string, runs: number): Promise<{ medianMs: number; rows: number }> {
  const [warmUpMs, rows] = await time(() => get(target));
  const counted = warmUpMs > SLOW_MS ? 1 : runs;
  const timesMs: number[] = [];
  while (timesMs.length < counted) timesMs.push((await time(() => get(target)))[0]);
  return { medianMs: timesMs.sort((a, b) => a - b)[counted >> 1]!, rows };
}

async function time<T>(work: () => Promise<T>): Promise<[ms: number, answer: T]> {
  const startedMs = performance.now();
  const answer = await work();
  return [performance.now() - startedMs, answer];
}
