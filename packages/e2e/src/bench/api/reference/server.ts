// The server that bench:api compares the control plane with: Hono and pg, as few named prepared statements as possible, the same lookup of
// the token, the same rows, the same bytes, and no log. It checks nothing of what it receives.
import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import pg from "pg";
import { agentRoutes } from "./agents.ts";
import { readRoutes } from "./reads.ts";
import { writeRoutes } from "./writes.ts";

const POOL_SIZE = 20; // the size of the control plane's pool

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: POOL_SIZE });
const app = new Hono();
readRoutes(app, pool);
agentRoutes(app, pool);
writeRoutes(app, pool);
const server = createAdaptorServer({ fetch: app.fetch }) as Server;
server.listen(0, "127.0.0.1");
await once(server, "listening");
process.stdout.write(`The reference serves at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
