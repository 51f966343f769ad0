import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { Client } from "pg";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../db/embedded-postgres.ts";

let server: Promise<EmbeddedPostgres> | undefined;
export async function createTestDatabase(t: { after(close: () => Promise<void>): void }): Promise<string> {
  server ??= startEmbeddedPostgres({
    dir: mkdtempSync("/dev/shm/dl-pg-"),
    settings: { fsync: "off" },
    log: { info() {}, warn: console.warn },
    isTemporary: true,
  });
  const { url } = await server;
  const name = `t_${randomUUID().replaceAll("-", "")}`;
  const c = new Client({ connectionString: url });
  await c.connect();
  await c.query(`CREATE DATABASE ${name}`);
  await c.end();
  const u = new URL(url);
  u.pathname = `/${name}`;
  return u.href;
}
