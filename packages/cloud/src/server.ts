import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate as afterReading, setTimeout as delay } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import type { Logger } from "pino";
import { createApp, createHealthApp } from "./app.ts";
import { boundConnections, serverOptions, watchUnused } from "./calls/connections/connections.ts";
import type { Env } from "./calls/connections/env.ts";
import { fitOpenFiles, openFileLimit } from "./calls/connections/open-files.ts";
import { refuseUnparsed, refuseUnread } from "./calls/connections/refuse-unread.ts";
import type { Config } from "./config.ts";
import { CommandError } from "./core/command-error.ts";
import type { OpenDeps } from "./deps.ts";
import { clientAddress, isTrusted } from "./process/limits/client-address.ts";
import { countTraffic } from "./process/metrics/count-traffic.ts";
import type { Metrics } from "./process/metrics/metrics.ts";

const LOOK_FOR_IDLE_MS = 50;
/** A fleet may connect all at once; the operating system may set a lower limit. */
const BACKLOG = 4096;

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
}

/**
 * Listens until it is disposed of. Then `/readyz` fails and waiting polls end, calls are still accepted for the time that the operator set,
 * running calls end within a grace time, and the rest is cut off.
 */
export async function startServer(config: Config, deps: OpenDeps): Promise<RunningServer> {
  const server = await serveApp(createApp(deps), config, deps);
  deps.setPublicUrl(server.url);
  return server;
}

/** The parts of the process that a server needs. */
export interface Served {
  readonly log: Logger;
  readonly metrics: Metrics;
  beginStopping(): void;
}

/** Does the same for any app. */
export async function serveApp(app: Hono<Env>, config: Config, deps: Served): Promise<RunningServer> {
  const connections = fitOpenFiles(config.limits.connections, { limit: openFileLimit(), log: deps.log });
  const listener = getRequestListener(app.fetch, { errorHandler: refuseUnread });
  const server = createServer(serverOptions(connections));
  sendAlways(server, securityHeaders(config));
  server.on("request", listener);
  boundConnections(server, connections, (socket) => peerAddressOf(socket, config));
  countTraffic(server, deps.metrics);
  const closeUnused = watchUnused(server);
  const url = await listen(server, config);
  return { url, [Symbol.asyncDispose]: () => stop({ server, closeUnused }, config, deps) };
}

/** Tells browsers to come by https alone, for a year, once the operator said that this is where the process is. spec: RFC 6797 */
function securityHeaders({ publicUrl }: Config): Readonly<Record<string, string>> {
  return publicUrl?.startsWith("https:") ? { "Strict-Transport-Security": "max-age=31536000" } : {};
}

/** Gives these headers to each answer, also to what is not HTTP. */
function sendAlways(server: Server, headers: Readonly<Record<string, string>>): void {
  const entries = new Map(Object.entries(headers));
  if (entries.size > 0) server.on("request", (_request, answer) => answer.setHeaders(entries));
  refuseUnparsed(server, headers);
}

/** Serves the health of a process that serves nothing else, for as long as its jobs take to end. */
export async function startHealthServer(config: Config & { workPort: number }, deps: OpenDeps): Promise<RunningServer> {
  const server = createServer(
    serverOptions(config.limits.connections),
    getRequestListener(createHealthApp(deps).fetch),
  );
  refuseUnparsed(server);
  const url = await listen(server, workPlaceOf(config));
  return {
    url,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** An address at which this process listens. */
interface Place {
  readonly host: string;
  readonly port: number;
  /** The setting that chose the port. The default is `DOWNLINK_PORT`. */
  readonly setting?: string;
}

function workPlaceOf({ host, workPort }: Config & { workPort: number }): Place {
  return { host, port: workPort, setting: "DOWNLINK_WORK_PORT" };
}

/**
 * Throws a {@link CommandError} if the port that the process will listen on is in use. The port is given back until the process can serve:
 * proxies try the next replica where a connection is refused, and would pass on a 503.
 */
export async function requireFreePort(config: Config, { serves }: { readonly serves: boolean }): Promise<void> {
  const { workPort } = config;
  const work = workPort === undefined ? undefined : workPlaceOf({ ...config, workPort });
  const place: Place | undefined = serves ? config : work;
  if (place === undefined || place.port === 0) return;
  const probe = createServer();
  await listen(probe, place);
  probe.close();
  await once(probe, "close");
}

/** Returns the URL once the server listens. Throws a {@link CommandError} if it cannot. */
async function listen(server: Server, { host, port, setting = "DOWNLINK_PORT" }: Place): Promise<string> {
  const at = host.includes(":") ? `[${host}]` : host;
  try {
    server.listen({ port, host, backlog: BACKLOG });
    await once(server, "listening");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new CommandError(`${at}:${port} is in use by another program; set ${setting} to another port`);
    throw new CommandError(`cannot listen on ${at}:${port} (${code}); set DOWNLINK_HOST or ${setting}`);
  }
  const { port: listening } = server.address() as AddressInfo;
  return `http://${at}:${listening}`;
}

/** A proxy of this deployment stands for everybody behind it. */
function peerAddressOf({ remoteAddress }: Socket, { trustedProxies }: Config): string | undefined {
  return isTrusted(remoteAddress, trustedProxies) ? undefined : clientAddress(remoteAddress, undefined, []);
}

/**
 * An idle connection is one between two calls: each answer says that it is the last one, so that the client sends no further call on it.
 * Nothing is closed before what has arrived was accepted and read: a busy process may look at its clock first, and a call that it does
 * not know of would be cut off.
 */
async function stop(
  { server, closeUnused }: { readonly server: Server; readonly closeUnused: () => void },
  { drainSeconds, graceSeconds }: Config,
  deps: Served,
): Promise<void> {
  deps.beginStopping();
  await delay(drainSeconds * 1000);
  await afterReading();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const closeIdle = setInterval(async () => {
    await afterReading();
    server.closeIdleConnections();
    closeUnused();
  }, LOOK_FOR_IDLE_MS);
  const cut = setTimeout(() => server.closeAllConnections(), graceSeconds * 1000);
  await closed;
  clearInterval(closeIdle);
  clearTimeout(cut);
}
