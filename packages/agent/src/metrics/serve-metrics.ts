import { createServer, type ServerResponse } from "node:http";
import type { Log } from "../diagnostics/log.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import type { ListenAddress } from "../settings/value-parsers.ts";
import { boundSockets, type SocketLimits } from "../status/bound-sockets.ts";
import type { StatusDocument } from "../status/status-schema.ts";
import { renderMetrics } from "./render-metrics.ts";

export interface MetricsContext {
  readonly address: ListenAddress;
  readonly takeStatus: () => Promise<StatusDocument>;
  readonly problems: ProblemBoard;
  readonly log: Log;
}

/** Prometheus waits for 10 s by default. */
const limits: SocketLimits = { most: 32, lifeMs: 30_000 };

/** Answers `GET /metrics` at the address. Where it cannot listen there, it raises a problem, and the agent goes on. */
export async function serveMetrics({ address, takeStatus, problems, log }: MetricsContext): Promise<AsyncDisposable> {
  const server = createServer((request, response) => {
    response.shouldKeepAlive = false;
    const [path] = (request.url ?? "").split("?", 1); // It is not parsed as a URL, because an invalid one would throw.
    if (request.method !== "GET" || path !== "/metrics") response.writeHead(404).end("GET /metrics\n");
    else answer(response, takeStatus).catch(() => response.destroy());
  });
  boundSockets(server, limits);
  const isListening = await new Promise<boolean>((resolve) => {
    server
      .once("listening", () => resolve(true))
      .once("error", (error) => {
        problems.raise("MetricsUnavailable", error.message);
        resolve(false);
      });
    server.listen(address);
  });
  if (isListening) log.info({ address: server.address() }, "metrics are served");
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      if (isListening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(response: ServerResponse, takeStatus: () => Promise<StatusDocument>): Promise<void> {
  const { user, system } = process.cpuUsage();
  const usage = { rssBytes: process.memoryUsage.rss(), cpuSeconds: (user + system) / 1e6 };
  const text = renderMetrics(await takeStatus(), usage);
  response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text);
}
