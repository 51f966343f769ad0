import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, NEXT_CURSOR_HEADER, PREVIOUS_CURSOR_HEADER } from "@downlink/protocol";
import { propertyRuns } from "@downlink/recordings/testing";
import fc from "fast-check";
import { type Move, type MovingList, storeMovingRows } from "./testing/moving-rows.ts";
import { startCloud } from "./testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { kept, move, reset } = await storeMovingRows(cloud);

interface Page {
  readonly ids: readonly string[];
  readonly link: string | undefined;
  readonly next: string | undefined;
  readonly previous: string | undefined;
}

async function ask(path: string, key = cloud.adminKey) {
  const response = await fetch(`${cloud.url}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const body = (await response.json()) as { code?: string };
  return { status: response.status, headers: response.headers, body };
}

async function read(path: string): Promise<Page> {
  const { status, headers, body } = await ask(path);
  assert.equal(status, 200, JSON.stringify(body));
  return {
    ids: (body as unknown as { id: string }[]).map(({ id }) => id),
    link: /^<(.+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1],
    next: headers.get(NEXT_CURSOR_HEADER) ?? undefined,
    previous: headers.get(PREVIOUS_CURSOR_HEADER) ?? undefined,
  };
}

const orders: Record<MovingList, readonly string[]> = {
  devices: ["id", "name", "lastSeenAt", "problems", "freeBytes", "properties.zone"],
  events: api.events.list.query.shape.sortBy.unwrap().options,
  recordings: api.recordings.list.query.shape.sortBy.unwrap().options,
};
/** Queries that choose each way in which the rows of a page are found. */
const filters: Record<MovingList, readonly string[]> = {
  devices: ["", "nameMatches=o", "query=properties.zone:*"],
  events: [
    "",
    "query=even",
    "start=1970-01-01T00:00:00.000000004Z",
    "deviceName=a",
    "createdAfter=1970-01-01T00:00:00Z",
  ],
  recordings: [
    "",
    "pathMatches=runs",
    "metadataQuery=operator:ann",
    "start=1970-01-01T00:00:00.000000020Z&end=1970-01-01T00:00:00.000000060Z",
    "deviceName=a",
    "deviceId=",
    "importStatus=complete",
    "importStatus=none,complete",
    "topic=/rare",
  ],
};

const moves: fc.Arbitrary<Move> = fc.record({
  kind: fc.constantFrom("insert" as const, "insert" as const, "delete" as const, "change" as const),
  choice: fc.nat(1000),
});
const walks = fc.constantFrom<MovingList>("devices", "events", "recordings").chain((list) =>
  fc.record({
    list: fc.constant(list),
    sortBy: fc.constantFrom(undefined, ...orders[list]),
    sortOrder: fc.constantFrom("asc", "desc"),
    filter: fc.constantFrom(...filters[list]),
    limit: fc.integer({ min: 1, max: 80 }),
    followsLink: fc.boolean(),
    before: fc.array(moves, { maxLength: 20 }),
    moves: fc.array(moves, { maxLength: 60 }),
  }),
);
type Walk = typeof walks extends fc.Arbitrary<infer T> ? T : never;

function pathOf({ list, sortBy, sortOrder, filter }: Walk, more: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams({ ...(sortBy && { sortBy }), sortOrder, ...more });
  return `/v1/${list}?${query}${filter && `&${filter}`}`;
}

const MOVES_PER_PAGE = 4;

/** Reads pages until there is no other one, while rows come, change and go between them. */
async function follow(walk: Walk, from: Page, pathToNext: (page: Page) => string | undefined): Promise<Page[]> {
  const pages = [from];
  for (let path = pathToNext(from); path !== undefined; path = pathToNext(pages.at(-1)!)) {
    const count = pages.length * MOVES_PER_PAGE;
    for (const one of walk.moves.slice(count - MOVES_PER_PAGE, count)) await move(walk.list, one);
    pages.push(await read(path));
    assert.ok(pages.length < 2000, "the pages have no end");
  }
  return pages;
}

const keptOf = (walk: Walk, pages: readonly Page[]) =>
  pages.flatMap(({ ids }) => ids).filter((id) => kept[walk.list].includes(id));

test("pages that follow each other by cursor or link, there and back, hold each row that stays once and in order, whatever comes, changes and goes between them", async () => {
  const holds = fc.asyncProperty(walks, async (walk) => {
    const limit = String(walk.limit);
    await reset(walk.list);
    for (const one of walk.before) await move(walk.list, one);
    const expected = keptOf(walk, [await read(pathOf(walk, { limit: "2000" }))]);
    const by = (cursor: string | undefined) => cursor && pathOf(walk, { limit, cursor });
    const first = await read(pathOf(walk, { limit, offset: "0" }));
    const forward = await follow(walk, first, ({ link, next }) => (walk.followsLink ? link : by(next)));
    assert.deepEqual(keptOf(walk, forward), expected);
    const last = forward.findLast(({ ids }) => ids.length > 0) ?? first;
    const backward = await follow(walk, last, ({ previous }) => by(previous));
    const after = forward.slice(forward.lastIndexOf(last) + 1);
    assert.deepEqual(keptOf(walk, [...backward.toReversed(), ...after]), expected);
  });
  await fc.assert(holds, { numRuns: propertyRuns(320) });
  for (const list of ["devices", "events", "recordings"] as const) await reset(list);
});

test("a page that is not the last one names the next by cursor, and the last one none: also after an offset", async () => {
  for (const list of ["devices", "events", "recordings"] as const) {
    const count = kept[list].length;
    const cut = await read(`/v1/${list}?limit=5&offset=2`);
    assert.ok(cut.link?.startsWith(`/v1/${list}?limit=5&cursor=`), cut.link);
    const all = (await read(`/v1/${list}`)).ids;
    assert.deepEqual((await read(cut.link!)).ids, all.slice(7, 12));
    assert.deepEqual((await read(`/v1/${list}?limit=2&cursor=${cut.previous}`)).ids, all.slice(0, 2));
    const whole = await read(`/v1/${list}?limit=${count}`);
    assert.deepEqual(whole, { ids: all, link: undefined, next: undefined, previous: undefined });
    const nothing = { ids: [], link: undefined, next: undefined, previous: undefined };
    assert.deepEqual(await read(`/v1/${list}?limit=0`), nothing);
    assert.deepEqual(await read(`/v1/${list}?limit=0&cursor=${cut.next}`), nothing);
  }
});

test("a cursor of another query, list, organization or set of projects is 400, and so is one with an offset", async () => {
  const { projectId } = await cloud.deps.db.prisma.device.findFirstOrThrow();
  const limited = await cloud.addKey(["devices.list", "events.list", "recordings.list"], [projectId]);
  const other = await cloud.otherOrganization();
  const { token } = await other.call(api.apiKeys.create, {
    name: "other",
    capabilities: ["devices.list", "events.list", "recordings.list"],
  });
  for (const list of ["devices", "events", "recordings"] as const) {
    const path = `/v1/${list}?limit=1`;
    const { next: cursor } = await read(path);
    const codeOf = async (query: string, key?: string) => {
      const { status, body } = await ask(query, key);
      return [status, body.code];
    };
    const wrong = [
      `${path}&cursor=${cursor}&sortOrder=desc`,
      `${path}&cursor=${cursor}&sortBy=${orders[list][0]}`,
      `${path}&cursor=${cursor}&projectId=${projectId}`,
      `${path}&cursor=${cursor}x`,
      `/v1/${list === "events" ? "devices" : "events"}?limit=1&cursor=${cursor}`,
    ];
    for (const query of wrong) assert.deepEqual(await codeOf(query), [400, "CursorRejected"], query);
    for (const key of [limited, token])
      assert.deepEqual(await codeOf(`${path}&cursor=${cursor}`, key), [400, "CursorRejected"]);
    assert.deepEqual(await codeOf(`${path}&cursor=${cursor}&offset=1`), [400, "InvalidRequest"]);
    assert.deepEqual(await codeOf(`${path}&cursor=${cursor}&offset=0`), [200, undefined]);
  }
});
