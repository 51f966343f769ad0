import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { pino } from "pino";
import type { Env } from "../connections/env.ts";
import { answerError } from "./answer-error.ts";

interface Answered {
  readonly status: number;
  readonly code: string;
  readonly retryAfter: string | null;
  /** The lines of the log. */
  readonly logged: readonly { readonly msg: string }[];
}

/** Answers a call that fails so. */
async function answered(error: Error): Promise<Answered> {
  const logged: { msg: string }[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const app = new Hono<Env>();
  app.onError((thrown, c) => answerError(c, thrown, log));
  app.get("/", () => Promise.reject(error));
  const response = await app.request("/");
  const { code } = (await response.json()) as { code: string };
  return { status: response.status, code, retryAfter: response.headers.get("retry-after"), logged };
}

const ofDatabase = (code: string) =>
  Object.assign(new Error("wrapped"), { cause: Object.assign(new Error("by the server"), { code }) });

test("a full disk of the database is 507, and is logged; a database that is away is 503 and is not", async () => {
  const full = await answered(ofDatabase("53100"));
  assert.deepEqual([full.status, full.code, full.retryAfter], [507, "StorageFull", null]);
  assert.deepEqual(
    full.logged.map(({ msg }) => msg),
    ["what was sent cannot be stored"],
  );
  const away = await answered(ofDatabase("57P01"));
  assert.deepEqual([away.status, away.code, away.retryAfter, away.logged], [503, "Unavailable", "5", []]);
});

test("a statement that took too long is 503, with a time after which it may be tried again, and is logged", async () => {
  const { logged, ...answer } = await answered(ofDatabase("57014"));
  assert.deepEqual(answer, { status: 503, code: "Unavailable", retryAfter: "30" });
  assert.deepEqual(
    logged.map(({ msg }) => msg),
    ["a statement took too long"],
  );
});

test("what is not known is 500 without its text, and is logged in full", async () => {
  const { status, code, logged } = await answered(new Error("a bug"));
  assert.deepEqual([status, code], [500, "Internal"]);
  assert.ok(JSON.stringify(logged).includes("a bug"));
});
