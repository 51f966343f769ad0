import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { request } from "undici";
import { z } from "zod";
import { ApiError } from "../../core/errors.ts";
import type { Batches } from "../../db/read-in-batches.ts";
import { serveRoutes } from "../data-plane/testing/serve-routes.ts";
import { streamList } from "./stream-list.ts";

const Item = z.object({ atNs: z.codec(z.string(), z.bigint(), { decode: BigInt, encode: String }) });
type Batch = readonly z.output<typeof Item>[];
const log = pino({ level: "silent" });

async function answer(list: () => Batches<z.output<typeof Item>>) {
  await using served = await serveRoutes((app) => {
    app.get("/", (c) => streamList(c, list(), { schema: z.array(Item), mayBeKept: true, log }));
  });
  const { statusCode, headers, body } = await request(served.url);
  return { statusCode, type: headers["content-type"], text: await body.text() };
}

async function* batchesOf(batches: readonly Batch[]): Batches<z.output<typeof Item>> {
  for (const batch of batches) yield batch;
}

test("a list that comes in batches is one JSON array with each item encoded", async () => {
  const one = [{ atNs: 1n }, { atNs: 2n }];
  const found = await answer(() => batchesOf([one, [], [{ atNs: 3n }]]));
  assert.deepEqual(found, {
    statusCode: 200,
    type: "application/json",
    text: '[{"atNs":"1"},{"atNs":"2"},{"atNs":"3"}]',
  });
  assert.equal((await answer(() => batchesOf([]))).text, "[]");
  assert.equal((await answer(() => batchesOf([[]]))).text, "[]");
});

test("the source of each batch learns how many characters the last batch became", async () => {
  const shown: number[] = [];
  await answer(async function* () {
    shown.push(yield [{ atNs: 1n }]);
    shown.push(yield [{ atNs: 1n }, { atNs: 2n }]);
  });
  assert.deepEqual(shown, ['{"atNs":"1"}'.length, '{"atNs":"1"},{"atNs":"2"}'.length]);
});

test("a list that fails before its first batch is an error with its status; a later failure breaks the connection", async () => {
  const early = await answer(async function* () {
    throw new ApiError("NotFound", "no such device");
    // biome-ignore lint/correctness/noUnreachable: makes it a generator
    yield [];
  });
  assert.equal(early.statusCode, 404);
  await assert.rejects(
    answer(async function* () {
      yield Array.from({ length: 100_000 }, () => ({ atNs: 1n })); // more than is gathered before the first byte is sent
      throw new Error("the database is gone");
    }),
  );
});
