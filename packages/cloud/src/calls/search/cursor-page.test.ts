import assert from "node:assert/strict";
import { after, test } from "node:test";
import { NEXT_CURSOR_HEADER, PREVIOUS_CURSOR_HEADER, type SortOrder } from "@downlink/protocol";
import { pino } from "pino";
import type { ApiKeyCaller } from "../../core/callers.ts";
import { ApiError } from "../../core/errors.ts";
import { createLinkSigner } from "../../core/signed-link.ts";
import { openDatabase } from "../../db/client.ts";
import { Prisma } from "../../db/generated/client.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { closePage, openPage, type Place, pageOrder, selectBeyondCursor } from "./cursor-page.ts";

const db = openDatabase(await createTestDatabase({ after }), { maxConnections: 1, log: pino({ level: "silent" }) });
after(() => db[Symbol.asyncDispose]());
await db.pool.query(`CREATE TABLE "Thing" (id text PRIMARY KEY, at bigint NOT NULL)`);

const caller: ApiKeyCaller = {
  kind: "apiKey",
  keyId: "key_1",
  orgId: "org_1",
  capabilities: [],
  projectIds: [],
  expiresAtNs: null,
};
const ctx = { caller, signer: createLinkSigner(["a".repeat(32)]) };
const columns = { sortValue: Prisma.sql`t.at`, type: "bigint", id: Prisma.sql`t.id` } as const;

interface Query {
  readonly limit: number;
  readonly offset?: number;
  readonly cursor?: string | undefined;
  readonly sortOrder?: SortOrder;
}

async function list(query: Query) {
  const page = openPage(ctx, "things.list", query);
  const where = [Prisma.sql`TRUE`, ...selectBeyondCursor(page, columns)];
  const found = await db.prisma.$queryRaw<Place[]>`
    SELECT t.id, t.at::text AS "sortValue" FROM "Thing" t WHERE ${Prisma.join(where, " AND ")}
    ORDER BY ${pageOrder(page, columns)} LIMIT ${page.take} OFFSET ${page.offset}`;
  const { rows, headers } = closePage(ctx, page, found);
  return {
    ids: rows.map(({ id }) => id),
    next: headers[NEXT_CURSOR_HEADER],
    previous: headers[PREVIOUS_CURSOR_HEADER],
  };
}

/** Inserts a row for each letter, at the given times: rows of the same time are distinguished by their letter. */
async function fill(times: Readonly<Record<string, bigint>>): Promise<void> {
  await db.pool.query(`DELETE FROM "Thing"`);
  for (const [id, at] of Object.entries(times)) await db.pool.query(`INSERT INTO "Thing" VALUES ($1, $2)`, [id, at]);
}

async function walk(query: Query, towards: "next" | "previous"): Promise<string[]> {
  const pages: string[] = [];
  for (let cursor = query.cursor; ; ) {
    const page = await list({ ...query, cursor });
    pages.push(page.ids.join(""));
    cursor = page[towards];
    if (cursor === undefined) return pages;
  }
}

const seven = { a: -5n, b: 0n, c: 0n, d: 0n, e: 7n, f: 7n, g: 2n ** 62n };

test("pages forward return each row once and in order, and pages back return the same pages", async () => {
  await fill(seven);
  assert.deepEqual(await walk({ limit: 2 }, "next"), ["ab", "cd", "ef", "g"]);
  assert.deepEqual(await walk({ limit: 2, sortOrder: "desc" }, "next"), ["gf", "ed", "cb", "a"]);
  const third = await list({
    limit: 2,
    cursor: (await list({ limit: 2, cursor: (await list({ limit: 2 })).next })).next,
  });
  assert.deepEqual(await walk({ limit: 2, cursor: third.next }, "previous"), ["g", "ef", "cd", "ab"]);
  assert.deepEqual(await walk({ limit: 4, sortOrder: "desc" }, "next"), ["gfed", "cba"]);
});

test("a page has a cursor to each side that has rows, and none to a side that has not", async () => {
  await fill(seven);
  const first = await list({ limit: 3 });
  assert.deepEqual([first.previous, typeof first.next], [undefined, "string"]);
  const second = await list({ limit: 3, cursor: first.next });
  assert.deepEqual([typeof second.previous, typeof second.next], ["string", "string"]);
  const last = await list({ limit: 3, cursor: second.next });
  assert.deepEqual([last.ids, typeof last.previous, last.next], [["g"], "string", undefined]);
  const firstAgain = await list({ limit: 3, cursor: second.previous });
  assert.deepEqual([firstAgain.ids, firstAgain.previous], [["a", "b", "c"], undefined]);
  const all = await list({ limit: 7 });
  assert.deepEqual([all.previous, all.next], [undefined, undefined]);
});

test("the last page that an exact multiple of the limit fills has no next one", async () => {
  await fill({ a: 1n, b: 2n, c: 3n, d: 4n });
  assert.deepEqual(await walk({ limit: 2 }, "next"), ["ab", "cd"]);
});

test("an empty page has no cursors: limit 0, no rows, deleted rows", async () => {
  await fill(seven);
  assert.deepEqual(await list({ limit: 0 }), { ids: [], next: undefined, previous: undefined });
  const { next } = await list({ limit: 5 });
  await fill({});
  assert.deepEqual(await list({ limit: 5, cursor: next }), { ids: [], next: undefined, previous: undefined });
  assert.deepEqual(await list({ limit: 5 }), { ids: [], next: undefined, previous: undefined });
});

test("rows that come and go between two pages move no other row: none appears twice, and no remaining one is missed", async () => {
  await fill(seven);
  const first = await list({ limit: 3 });
  await fill({ ...seven, a2: -4n, b2: 0n, z: 2n ** 61n });
  await db.pool.query(`DELETE FROM "Thing" WHERE id IN ('a', 'c', 'e')`);
  assert.deepEqual(await walk({ limit: 3, cursor: first.next }, "next"), ["dfz", "g"]);
});

test("an offset skips rows, and cursors lead on and back from there", async () => {
  await fill(seven);
  const page = await list({ limit: 2, offset: 2 });
  assert.deepEqual(page.ids, ["c", "d"]);
  assert.deepEqual((await list({ limit: 2, cursor: page.next })).ids, ["e", "f"]);
  assert.deepEqual((await list({ limit: 2, cursor: page.previous })).ids, ["a", "b"]);
});

test("a cursor with an offset other than 0 is 400", async () => {
  const { next } = await list({ limit: 1 });
  await list({ limit: 1, offset: 0, cursor: next });
  await assert.rejects(
    () => list({ limit: 1, offset: 1, cursor: next }),
    (error) => error instanceof ApiError && error.code === "InvalidRequest" && error.message.startsWith("offset"),
  );
});

test("a cursor is valid for another limit and include, but not for another filter, order, list, organization or set of projects", () => {
  const query = { limit: 1, sortBy: "at", filter: 1n, absent: undefined };
  const page = openPage(ctx, "things.list", query);
  const rows = ["a", "b"].map((id) => ({ id, sortValue: "1" }));
  const cursor = closePage(ctx, page, rows).headers[NEXT_CURSOR_HEADER];
  openPage(ctx, "things.list", { ...query, cursor, limit: 9, include: ["recordings"] });
  openPage(ctx, "things.list", { filter: 1n, sortBy: "at", cursor, limit: 1 });
  const isRejected = (called: () => unknown) =>
    assert.throws(called, (error) => error instanceof ApiError && error.code === "CursorRejected");
  isRejected(() => openPage(ctx, "things.list", { ...query, cursor, filter: 2n }));
  isRejected(() => openPage(ctx, "things.list", { ...query, cursor, filter: undefined }));
  isRejected(() => openPage(ctx, "things.list", { ...query, cursor, sortOrder: "desc" }));
  isRejected(() => openPage(ctx, "others.list", { ...query, cursor }));
  const asOther = (other: Partial<ApiKeyCaller>) => ({ ...ctx, caller: { ...caller, ...other } });
  isRejected(() => openPage(asOther({ orgId: "org_2" }), "things.list", { ...query, cursor }));
  isRejected(() => openPage(asOther({ projectIds: ["prj_1"] }), "things.list", { ...query, cursor }));
  openPage(asOther({ keyId: "key_2" }), "things.list", { ...query, cursor });
});
