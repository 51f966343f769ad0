import type { Dispatcher } from "undici";
// Not from undici's index, which loads its fetch, caches and mocks as well: 11 MB in every agent.
import apiRequest from "undici/lib/api/api-request.js";
import Agent from "undici/lib/dispatcher/agent.js";
import { getGlobalDispatcher } from "undici/lib/global.js";

export { Agent };

type RequestOptions = Omit<Dispatcher.RequestOptions, "origin" | "path"> & {
  /** Absent: undici's global one. */
  readonly dispatcher?: Dispatcher;
};

/** As undici's own `request`; fails at once for what is no URL. */
export function request(
  url: string,
  { dispatcher = getGlobalDispatcher(), ...options }: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(url);
  return apiRequest.call(dispatcher, { ...options, origin, path: pathname + search });
}
