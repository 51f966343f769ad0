import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { sql } from "kysely";
import { createTestDatabase } from "../testing/test-database.ts";
import { type Database, openDatabase } from "./client.ts";
import { withOneConnection } from "./one-connection.ts";
import { type Parameters, prepare } from "./prepared.ts";
import { sqlState } from "./sql-state.ts";

const url = await createTestDatabase({ after });

/** Opens connections of its own, which have prepared nothing. */
function openTestDatabase(t: TestContext, maxConnections = 1): Database {
  const db = openDatabase(url, { maxConnections, log: { warn: () => {} } });
  t.after(() => db[Symbol.asyncDispose]());
  return db;
}

interface Echoed {
  readonly text: string | null;
  readonly count: bigint | null;
  readonly counts: readonly bigint[] | null;
  readonly json: object | string | null;
  readonly flag: boolean | null;
  readonly number: number | null;
  readonly texts: readonly string[] | null;
}

const echo = prepare((_db, at: Parameters<Echoed>) => {
  const { text, count, counts, json } = at;
  return sql<Echoed>`SELECT ${text}::text AS text, ${count}::bigint AS count, ${counts}::bigint[] AS counts, ${json}::jsonb AS json,
    ${at.flag}::boolean AS flag, ${at.number}::float8 AS number, ${at.texts}::text[] AS texts`;
});
const row = {
  text: 'ü "\\ \n',
  count: 2n ** 62n,
  counts: [1n, -2n],
  json: { a: ["b", null] },
  flag: false,
  number: 0.1,
  texts: ['a,"b"', "", "\\"],
};
const nothing = { text: null, count: null, counts: null, json: null, flag: null, number: null, texts: null };
const divide = prepare((db, { by }: Parameters<{ by: number | string }>) =>
  db.selectNoFrom(sql<number>`100 / ${by}::int`.as("quotient")),
);

test("a prepared statement answers the same for the same values, however often a connection has run it", async (t) => {
  const db = openTestDatabase(t);
  for (let run = 0; run < 3; run++) {
    assert.deepEqual(await echo(db, { ...row, json: JSON.stringify(row.json) }), [row]);
    assert.deepEqual(await echo(db, nothing), [nothing]);
  }
});

test("statements side by side answer what each was asked, over one connection and over several", async (t) => {
  for (const connections of [1, 4]) {
    const db = openTestDatabase(t, connections);
    const asked = Array.from({ length: 60 }, (_, index) => index + 1);
    const answers = await Promise.all(
      asked.map(async (number) =>
        number % 2 === 0
          ? (await divide(db, { by: number }))[0]!.quotient
          : Number((await echo(db, { ...nothing, count: BigInt(number) }))[0]!.count),
      ),
    );
    const expected = asked.map((number) => (number % 2 === 0 ? Math.trunc(100 / number) : number));
    assert.deepEqual(answers, expected);
  }
});

test("a statement that fails does so for who asked, at its first run and later; the connection goes on", async (t) => {
  const db = openTestDatabase(t);
  for (let run = 0; run < 2; run++) {
    await assert.rejects(divide(db, { by: 0 }), (error) => sqlState(error) === "22012");
    await assert.rejects(divide(db, { by: "many" }), (error) => sqlState(error) === "22P02");
    assert.deepEqual(await divide(db, { by: 3 }), [{ quotient: 33 }]);
  }
  const cyclic: { self?: object } = {};
  cyclic.self = cyclic;
  await assert.rejects(echo(db, { ...nothing, json: cyclic }), TypeError);
  assert.deepEqual(await divide(db, { by: 4 }), [{ quotient: 25 }]);
});

test("a row that cannot be read fails its statement alone", async (t) => {
  const numbers = prepare(
    (_db, { texts }: Parameters<{ texts: string }>) => sql<object>`SELECT ${texts}::bigint[] AS numbers`,
  );
  const db = openTestDatabase(t);
  await assert.rejects(numbers(db, { texts: "{{1,2}}" }), SyntaxError);
  assert.deepEqual(await numbers(db, { texts: "{1,2}" }), [{ numbers: [1n, 2n] }]);
});

test("a column whose type changes beneath a statement is refused by Postgres, never read as what it was", async (t) => {
  const db = openTestDatabase(t);
  const read = prepare((kysely) => kysely.selectNoFrom(sql<bigint>`(SELECT size FROM probe)`.as("size")));
  await db.pool.query("CREATE TABLE probe AS SELECT 1::bigint AS size");
  assert.deepEqual(await read(db, {}), [{ size: 1n }]);
  await db.pool.query("ALTER TABLE probe ALTER size TYPE text");
  await assert.rejects(read(db, {}), (error) => sqlState(error) === "0A000");
});

test("a connection that is lost fails the statement that it runs; the next one takes another connection", async (t) => {
  const db = openTestDatabase(t);
  const endSelf = prepare((kysely) => kysely.selectNoFrom(sql`pg_terminate_backend(pg_backend_pid())`.as("ended")));
  await divide(db, { by: 1 });
  await assert.rejects(endSelf(db, {}));
  assert.deepEqual(await divide(db, { by: 5 }), [{ quotient: 20 }]);
});

test("statements of a transaction take turns on its connection, and see what it has written", async (t) => {
  const db = openTestDatabase(t, 2);
  const count = prepare((kysely, { name }: Parameters<{ name: string }>) =>
    kysely
      .selectFrom("Organization")
      .where("name", "=", name)
      .select((of) => of.fn.countAll<bigint>().as("count")),
  );
  await withOneConnection(db, async (inside) => {
    await inside.prisma.organization.create({ data: { id: "a", name: "a", createdAtNs: 0n } });
    const counted = await Promise.all(["a", "b", "a"].map((name) => count(inside, { name })));
    assert.deepEqual(counted.flat(), [{ count: 1n }, { count: 0n }, { count: 1n }]);
    assert.deepEqual(await count(db, { name: "a" }), [{ count: 0n }]);
    await assert.rejects(divide(inside, { by: 0 }));
    throw new Error("undone");
  }).catch((error: Error) => assert.match(error.message, /undone/));
  assert.deepEqual(await count(db, { name: "a" }), [{ count: 0n }]);
});
