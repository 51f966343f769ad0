import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { createApp, createHealthApp } from "./app.ts";
import type { Config } from "./config.ts";
import type { OpenDeps } from "./deps.ts";
import { boundConnections, serverOptions } from "./http/connections.ts";
import { fitOpenFiles, openFileLimit } from "./http/open-files.ts";
import { refuseUnparsed, refuseUnread } from "./http/refuse-unread.ts";
import { clientAddress, isTrusted } from "./limits/client-address.ts";
import { countTraffic } from "./metrics/count-traffic.ts";

const LOOK_FOR_IDLE_MS = 50;
/** A fleet may come all at once; the system has a limit of its own below. */
const BACKLOG = 4096;

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
}

/**
 * Listens until it is disposed. Then `/readyz` says so and held polls end, calls are still taken for the time that the operator
 * set, what is under way ends within a grace time, and what is left is cut.
 */
export async function startServer(config: Config, deps: OpenDeps): Promise<RunningServer> {
  const app = createApp(deps);
  const connections = fitOpenFiles(config.limits.connections, { limit: openFileLimit(), log: deps.log });
  const listener = getRequestListener(app.fetch, { errorHandler: refuseUnread });
  const server = createServer(serverOptions(connections), listener);
  refuseUnparsed(server);
  boundConnections(server, connections, (socket) => countedAddress(socket, config));
  countTraffic(server, deps.metrics);
  const url = await listen(server, config);
  deps.setPublicUrl(url);
  return { url, [Symbol.asyncDispose]: () => stop(server, config, deps) };
}

/** The health of a process that serves nothing else, for as long as its jobs take to end. */
export async function startHealthServer(config: Config & { workPort: number }, deps: OpenDeps): Promise<RunningServer> {
  const server = createServer(
    serverOptions(config.limits.connections),
    getRequestListener(createHealthApp(deps).fetch),
  );
  refuseUnparsed(server);
  const url = await listen(server, { host: config.host, port: config.workPort });
  return {
    url,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Answers the URL once the server listens. */
async function listen(server: Server, { host, port }: Pick<Config, "host" | "port">): Promise<string> {
  server.listen({ port, host, backlog: BACKLOG });
  await once(server, "listening");
  const { port: listening } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${listening}`;
}

/** A proxy of this deployment stands for everybody behind it. */
function countedAddress({ remoteAddress }: Socket, { trustedProxies }: Config): string | undefined {
  return isTrusted(remoteAddress, trustedProxies) ? undefined : clientAddress(remoteAddress, undefined, []);
}

/** An idle connection is one between two calls: each answer says that it is the last, so that the client begins none on it. */
async function stop(server: Server, { drainSeconds, graceSeconds }: Config, deps: OpenDeps): Promise<void> {
  deps.beginStopping();
  await delay(drainSeconds * 1000);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const closeIdle = setInterval(() => server.closeIdleConnections(), LOOK_FOR_IDLE_MS);
  const cut = setTimeout(() => server.closeAllConnections(), graceSeconds * 1000);
  await closed;
  clearInterval(closeIdle);
  clearTimeout(cut);
}
