import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { truncate } from "node:fs/promises";
import { test } from "node:test";
import fc from "fast-check";
import { request } from "undici";
import { filesOf } from "../../store/blobs/file-layout.ts";
import { serveFileStore } from "../../store/blobs/testing/open-file-store.ts";
import { inPieces, newKey } from "../../store/blobs/testing/pieces.ts";
import { parseRange, sendBlob } from "./download.ts";
import { sliceOf } from "./slice-of.ts";
import { serveRoutes } from "./testing/serve-routes.ts";

const bytes = randomBytes(900_000);

test("a download is the whole object, as bytes to be saved, and is never encoded", async () => {
  await using site = await serveDownloads();
  const { status, headers, body } = await site.get({ "accept-encoding": "gzip, br, zstd" });
  assert.equal(status, 200);
  assert(bytes.equals(body));
  assert.equal(headers["content-length"], String(bytes.byteLength));
  assert.equal(headers["content-encoding"], undefined);
  assert.equal(headers["x-request-id"], "test");
  assert.deepEqual([headers.etag, headers["accept-ranges"]], [site.etag, "bytes"]);
  assert.match(String(headers["cache-control"]), /no-transform/);
  assert.equal(headers["content-disposition"], `attachment; filename="drive 1.mcap"; filename*=UTF-8''drive%201.mcap`);
});

test("a download of HEAD has the same headers and no body", async () => {
  await using site = await serveDownloads();
  const [head, whole] = [await site.get({ range: "bytes=0-1" }, "HEAD"), await site.get()];
  assert.equal(head.status, 200);
  assert.equal(head.body.byteLength, 0);
  const { date: _, connection: __, "keep-alive": ___, ...expected } = whole.headers;
  for (const [name, value] of Object.entries(expected)) assert.equal(head.headers[name], value, name);
});

test("a download of one range is exactly that range", async () => {
  await using site = await serveDownloads();
  const size = bytes.byteLength;
  for (const [range, start, end] of [
    ["bytes=0-0", 0, 1],
    ["bytes=1000-299999", 1000, 300_000],
    [`bytes=${size - 1}-`, size - 1, size],
    ["bytes=-5", size - 5, size],
    [`bytes=-${size + 5}`, 0, size],
    [`bytes=10-${size * 2}`, 10, size],
  ] as const) {
    const { status, headers, body } = await site.get({ range });
    assert.equal(status, 206, range);
    assert.equal(headers["content-range"], `bytes ${start}-${end - 1}/${size}`);
    assert(bytes.subarray(start, end).equals(body), range);
  }
});

test("a download of a range outside of the object is 416 and names the size; with an invalid range it is the whole object", async () => {
  await using site = await serveDownloads();
  for (const range of [`bytes=${bytes.byteLength}-`, "bytes=-0"]) {
    const { status, headers, body } = await site.get({ range });
    assert.equal(status, 416);
    assert.equal(headers["content-range"], `bytes */${bytes.byteLength}`);
    assert.equal(JSON.parse(body.toString()).code, "RangeNotSatisfiable");
  }
  for (const range of ["bytes=2-1", "bytes=-", "bytes=0-1,5-6", "lines=0-1", "bytes=a-b"])
    assert.equal((await site.get({ range })).status, 200, range);
});

test("a download with If-Range is the range only of the object that the receiver began with", async () => {
  await using site = await serveDownloads();
  const range = "bytes=5-9";
  assert.equal((await site.get({ range, "if-range": site.etag })).status, 206);
  for (const other of ['"other"', `W/${site.etag}`, "Wed, 21 Oct 2026 07:28:00 GMT"])
    assert.equal((await site.get({ range, "if-range": other })).status, 200, other);
});

test("a download with If-None-Match is 304 when the receiver has the object", async () => {
  await using site = await serveDownloads();
  for (const known of [site.etag, `W/${site.etag}`, `"a", ${site.etag}`, "*"]) {
    const { status, headers, body } = await site.get({ "if-none-match": known });
    assert.deepEqual([status, headers.etag, body.byteLength], [304, site.etag, 0], known);
  }
  assert.equal((await site.get({ "if-none-match": '"a"' })).status, 200);
});

test("a download of an empty object is an empty body", async () => {
  await using site = await serveDownloads();
  const key = newKey();
  await site.store.put(key, inPieces(Buffer.alloc(0)));
  const { status, headers, body } = await site.get({}, "GET", key);
  assert.deepEqual([status, headers["content-length"], body.byteLength], [200, "0", 0]);
  assert.equal((await site.get({ range: "bytes=0-" }, "GET", key)).status, 416);
});

test("a download of an object that is not there is 404", async () => {
  await using site = await serveDownloads();
  assert.equal((await site.get({}, "GET", newKey())).status, 404);
});

test("a download of an object that ends early breaks off, and never looks whole", async () => {
  await using site = await serveDownloads();
  const failures: unknown[] = [];
  const key = newKey();
  await site.store.put(key, inPieces(bytes, 65_536));
  const reader = await site.store.open(key);
  await using broken = await serveRoutes((app) =>
    app.get("/x", (c) => sendBlob(c, reader, { ...site.asked, etag: "x", onFailure: (error) => failures.push(error) })),
  );
  await truncate(filesOf(site.directory, key).object, 600_000);
  await assert.rejects(request(`${broken.url}/x`).then(({ body }) => body.arrayBuffer()));
  assert.match(String(failures.at(-1)), /BlobDamaged/);
});

test("a download of a slice is those bytes of the object, whole and in ranges, and none beside them", async () => {
  await using site = await serveDownloads();
  const slice = { offset: 700_000, sizeBytes: 1000 };
  await using served = await serveSlice(site, slice);
  const expected = bytes.subarray(700_000, 701_000);
  const whole = await served.get();
  assert.deepEqual([whole.status, whole.headers["content-length"]], [200, "1000"]);
  assert(expected.equals(whole.body));
  const range = await served.get({ range: "bytes=-5000" });
  assert.deepEqual([range.status, range.headers["content-range"]], [206, "bytes 0-999/1000"]);
  assert(expected.equals(range.body));
  const middle = await served.get({ range: "bytes=10-19" });
  assert(expected.subarray(10, 20).equals(middle.body));
  assert.equal((await served.get({ range: "bytes=1000-" })).headers["content-range"], "bytes */1000");
});

test("a download of an empty slice is an empty body, also at the end of the object", async () => {
  await using site = await serveDownloads();
  await using served = await serveSlice(site, { offset: bytes.byteLength, sizeBytes: 0 });
  const { status, headers, body } = await served.get();
  assert.deepEqual([status, headers["content-length"], body.byteLength], [200, "0", 0]);
});

test("a download of a slice that reaches beyond the object breaks off, and never looks whole", async () => {
  await using site = await serveDownloads();
  await using served = await serveSlice(site, { offset: 0, sizeBytes: bytes.byteLength + 1 });
  await assert.rejects(served.get());
});

test("a download closes its reader, whatever the answer", async () => {
  await using site = await serveDownloads();
  const closed: PromiseWithResolvers<void>[] = [];
  await using watched = await serveRoutes((app) =>
    app.get("/:org/:upload", async (c) => {
      const reader = await site.store.open(c.req.path.slice(1));
      const dispose = async () => {
        await reader[Symbol.asyncDispose]();
        closed.at(-1)!.resolve();
      };
      const download = { ...site.asked, etag: "x", onFailure: fail };
      return sendBlob(c, { ...reader, [Symbol.asyncDispose]: dispose }, download);
    }),
  );
  for (const [method, headers] of [
    ["GET", {}],
    ["HEAD", {}],
    ["GET", { "if-none-match": "*" }],
    ["GET", { range: "bytes=999999999-" }],
  ] as const) {
    closed.push(Promise.withResolvers());
    await (await request(`${watched.url}/${site.key}`, { method, headers })).body.dump();
    await closed.at(-1)!.promise;
  }
});

test("a download sends any name and type without letting them break out of their header", async () => {
  await using site = await serveDownloads();
  for (const { fileName, mediaType } of [
    { fileName: 'a"b\r\nSet-Cookie: x=1', mediaType: "text/html\r\nX-Evil: 1" },
    { fileName: "Straße ✓ \ud800.bag", mediaType: "" },
  ]) {
    Object.assign(site.asked, { fileName, mediaType });
    const { status, headers } = await site.get();
    assert.equal(status, 200);
    assert.deepEqual([headers["set-cookie"], headers["x-evil"]], [undefined, undefined]);
    assert.equal(headers["content-type"], "application/octet-stream");
    const [, encoded] = /^attachment; filename="[\w .()+-]*"; filename\*=UTF-8''([\w.~%-]+)$/.exec(
      String(headers["content-disposition"]),
    )!;
    assert.equal(decodeURIComponent(encoded!), fileName.toWellFormed());
  }
});

test("a download names a type that a browser only shows, and never one that it would run", async () => {
  await using site = await serveDownloads();
  const typeOf = async (mediaType: string) => {
    Object.assign(site.asked, { mediaType });
    return (await site.get()).headers["content-type"];
  };
  for (const shown of ["image/png", "application/json", "application/vnd.x+json", "text/plain; charset=utf-8"])
    assert.equal(await typeOf(shown), shown);
  const run = ["text/html", "TEXT/HTML; charset=utf-8", "application/xhtml+xml", "image/svg+xml", "text/xml"];
  for (const type of [...run, "text/javascript", "application/x-ecmascript", "text/css", "multipart/x-mixed-replace"])
    assert.equal(await typeOf(type), "application/octet-stream", type);
  const { headers } = await site.get();
  assert.deepEqual([headers["x-content-type-options"], headers["content-security-policy"]], ["nosniff", "sandbox"]);
});

test("a range agrees with plain arithmetic on its ends", () => {
  fc.assert(
    fc.property(fc.nat(50), fc.nat(60), fc.nat(60), (sizeBytes, first, last) => {
      const all = Array.from({ length: sizeBytes }, (_, offset) => offset);
      const named = (range: ReturnType<typeof parseRange>) =>
        typeof range === "object" ? all.slice(range.start, range.endInclusive + 1) : [];
      assert.deepEqual(named(parseRange(`bytes=${first}-`, sizeBytes)), all.slice(first));
      assert.deepEqual(named(parseRange(`bytes=-${last}`, sizeBytes)), last === 0 ? [] : all.slice(-last));
      if (first <= last)
        assert.deepEqual(named(parseRange(`bytes=${first}-${last}`, sizeBytes)), all.slice(first, last + 1));
    }),
  );
});

/** Stores one object and serves a route that sends any object of the store; `asked` is the download that the route describes. */
async function serveDownloads() {
  await using stack = new AsyncDisposableStack();
  const { store, directory } = stack.use(await serveFileStore());
  const asked = { mediaType: "application/octet-stream", fileName: "drive 1.mcap" };
  const routes = stack.use(
    await serveRoutes((app) =>
      app.get("/:org/:upload", async (c) => {
        const key = `${c.req.param("org")}/${c.req.param("upload")}`;
        const [found, reader] = [await store.stat(key), await store.open(key)];
        return sendBlob(c, reader, { ...asked, etag: found!.etag, onFailure: fail });
      }),
    ),
  );
  const key = newKey();
  await store.put(key, inPieces(bytes, 65_536));
  const etag = `"${(await store.stat(key))!.etag}"`;
  const opened = stack.move();
  async function get(headers: Record<string, string> = {}, method: "GET" | "HEAD" = "GET", path = key) {
    const answer = await request(`${routes.url}/${path}`, { method, headers });
    return { status: answer.statusCode, headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) };
  }
  return { store, directory, key, asked, etag, get, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

type Site = Awaited<ReturnType<typeof serveDownloads>>;

async function serveSlice({ store, key, asked }: Site, slice: { offset: number; sizeBytes: number }) {
  const routes = await serveRoutes((app) =>
    app.get("/x", async (c) =>
      sendBlob(c, sliceOf(await store.open(key), slice), { ...asked, etag: "x", onFailure: () => {} }),
    ),
  );
  async function get(headers: Record<string, string> = {}) {
    const answer = await request(`${routes.url}/x`, { headers });
    return { status: answer.statusCode, headers: answer.headers, body: Buffer.from(await answer.body.arrayBuffer()) };
  }
  return { get, [Symbol.asyncDispose]: () => routes[Symbol.asyncDispose]() };
}

function fail(error: unknown): never {
  throw error;
}
