import type { Dispatcher } from "undici";
// Not from undici's index, which loads its fetch, caches and mocks as well: 11 MB in every agent.
import apiConnect from "undici/lib/api/api-connect.js";
import apiRequest from "undici/lib/api/api-request.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Pool from "undici/lib/dispatcher/pool.js";
import ProxyAgent from "undici/lib/dispatcher/proxy-agent.js";
import { getGlobalDispatcher } from "undici/lib/global.js";

export { Agent, Pool, ProxyAgent };

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

/** A pool of connections to a proxy. Only undici's index, which is not loaded, gives each dispatcher its `connect`. */
export function proxyPool(proxy: URL, options: object): Pool {
  const pool = new Pool(proxy, options);
  return Object.assign(pool, { connect: (given: Dispatcher.ConnectOptions) => apiConnect.call(pool, given) });
}
