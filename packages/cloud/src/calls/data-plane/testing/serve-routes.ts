import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
// The first server replaces the global Response: this constant has to be made of the original one, as it is in the service.
import "@hono/node-server/utils/response";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { pino } from "pino";
import { answerError } from "../../answers/answer-error.ts";
import type { Env } from "../../connections/env.ts";

export interface ServedRoutes extends AsyncDisposable {
  /** The address has no slash at the end. */
  readonly url: string;
}

/** Serves some routes on a free port of the loopback, behind the same middleware as in the service. */
export async function serveRoutes(addRoutes: (app: Hono<Env>) => void): Promise<ServedRoutes> {
  const app = new Hono<Env>();
  const log = pino({ level: "silent" });
  app.use(async (c, next) => {
    c.header("X-Request-Id", "test");
    await next();
  });
  app.onError((error, c) => answerError(c, error, log));
  addRoutes(app);
  const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server;
  if (!server.listening) await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
