import type { Dispatcher } from "undici";
// This does not import undici's index, which also loads its fetch, caches and mocks: 11 MB in every agent.
import apiConnect from "undici/lib/api/api-connect.js";
import apiRequest from "undici/lib/api/api-request.js";
import Agent from "undici/lib/dispatcher/agent.js";
import Pool from "undici/lib/dispatcher/pool.js";
import ProxyAgent from "undici/lib/dispatcher/proxy-agent.js";
import { getGlobalDispatcher } from "undici/lib/global.js";

export { Agent, Pool, ProxyAgent };

type RequestOptions = Omit<Dispatcher.RequestOptions, "origin" | "path"> & {
  /** Absent: the global one of undici is used. */
  readonly dispatcher?: Dispatcher;
};

/** Does what undici's own `request` does, but fails at once for an invalid URL. */
export function request(
  url: string,
  { dispatcher = getGlobalDispatcher(), ...options }: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(url);
  return apiRequest.call(dispatcher, { ...options, origin, path: pathname + search });
}

/** Makes a pool of connections to a proxy. Only undici's index, which is not loaded, would give each dispatcher its `connect`. */
export function proxyPool(proxy: URL, options: object): Pool {
  const pool = new Pool(proxy, options);
  return Object.assign(pool, { connect: (given: Dispatcher.ConnectOptions) => apiConnect.call(pool, given) });
}
