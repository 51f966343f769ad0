import { once } from "node:events";
import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { createApp } from "./app.ts";
import type { Config } from "./config.ts";
import type { OpenDeps } from "./deps.ts";

const MAX_HEADER_BYTES = 64 * 1024; // an export link may name hundreds of topics
const GRACE_MS = 8000;

export interface RunningServer extends AsyncDisposable {
  readonly url: string;
}

/** Listens until it is disposed; then it takes no more, ends what is under way within a grace time, and cuts what is left. */
export async function startServer(config: Config, deps: OpenDeps): Promise<RunningServer> {
  const app = createApp(deps);
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: { maxHeaderSize: MAX_HEADER_BYTES },
  }) as Server;
  server.requestTimeout = 0; // an upload takes as long as it takes
  server.listen(config.port, config.host);
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : config.port;
  const url = `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`;
  deps.setPublicUrl(url);
  return { url, [Symbol.asyncDispose]: () => stop(server, deps) };
}

async function stop(server: Server, deps: OpenDeps): Promise<void> {
  deps.beginStopping();
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS);
  await closed;
  clearTimeout(cut);
}
