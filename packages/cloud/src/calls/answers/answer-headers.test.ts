import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { api, ErrorBody, holdsCredential, type Operation } from "@downlink/protocol";
import { makeZip } from "../../organization/extensions/testing/make-zip.ts";
import { makeOneOfEach } from "../../testing/one-of-each.ts";
import { sendRequest } from "../../testing/send-request.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { hostname, port, host } = new URL(cloud.url);
const authorization = `Bearer ${cloud.adminKey}`;

const ask = (path: string, headers: Record<string, string> = {}) => sendRequest(`${cloud.url}${path}`, { headers });

/** Sends what no client of ours would send. Returns the answer's status, its headers by lower-case name, and its body. */
async function sendRaw(head: string) {
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  socket.write(head);
  const answer = await text(socket);
  const [headers, body] = answer.split("\r\n\r\n") as [string, string];
  const [line, ...fields] = headers.split("\r\n");
  const named = fields.map((field) => field.split(": ")).map(([name, value]) => [name!.toLowerCase(), value]);
  return { status: Number(line!.split(" ")[1]), headers: Object.fromEntries(named) as Record<string, string>, body };
}

const line = "GET /v1/devices HTTP/1.1\r\n";
const refused: [what: string, head: string, status: number, code: string][] = [
  ["a request line that is none", "NONSENSE\r\n\r\n", 400, "MalformedRequest"],
  [
    "a target that is no path",
    `GET nowhere HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    400,
    "MalformedRequest",
  ],
  ["a header that is none", `${line}Host: ${host}\r\nno colon\r\n\r\n`, 400, "MalformedRequest"],
  ["headers that are too large", `${line}Host: ${host}\r\nX: ${"x".repeat(70_000)}\r\n\r\n`, 431, "HeadersTooLarge"],
  ["a call to a proxy", `CONNECT example.org:443 HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 400, "MalformedRequest"],
  ["the beginning of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "MalformedRequest"],
  ["no host", `${line}Connection: close\r\n\r\n`, 400, "MalformedRequest"],
  ["a host that is none", `${line}Host: a/b?c\r\nConnection: close\r\n\r\n`, 400, "MalformedRequest"],
  ["two lengths", `${line}Host: ${host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n`, 400, "MalformedRequest"],
];
for (const [what, head, status, code] of refused)
  test(`${what} is refused like everything else: JSON with a code and a request id`, async () => {
    const answer = await sendRaw(head);
    assert.equal(answer.status, status);
    assert.equal(ErrorBody.parse(JSON.parse(answer.body)).code, code);
    assert.match(answer.headers["content-type"]!, /^application\/json/);
    assert.match(answer.headers["x-request-id"]!, /^[\w-]{36}$/);
    assert.equal(answer.headers["x-content-type-options"], "nosniff");
  });

test("an unknown expectation is ignored", async () => {
  const answer = await sendRaw(`GET /livez HTTP/1.1\r\nHost: ${host}\r\nExpect: wonders\r\nConnection: close\r\n\r\n`);
  assert.deepEqual([answer.status, answer.body], [200, '{"status":"live"}']);
});

test("no browser guesses the type of an answer", async () => {
  const paths = ["/livez", "/docs", "/docs/swagger-ui.css", "/v1/openapi.json", "/v1/devices", "/nowhere"];
  for (const path of paths)
    for (const headers of [{}, { authorization }] as Record<string, string>[])
      assert.equal((await ask(path, headers)).headers.get("x-content-type-options"), "nosniff", path);
});

test("an answer with a secret is never cached", async () => {
  const { projectId } = await cloud.admin.call(api.devices.create, { name: "robot" });
  const created = await fetch(`${cloud.url}/v1/device-tokens`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ projectId }),
  });
  assert.ok(((await created.json()) as { token: string }).token);
  assert.equal(created.headers.get("cache-control"), "no-store");
});

const reads = Object.values(api)
  .flatMap((contract) => Object.values(contract) as Operation[])
  .filter(({ method, access, response }) => method === "get" && access.kind === "apiKey" && response);

test("an answer that may hold a token or a signed link is never cached, and other ones only by their reader", async () => {
  const ids = await makeOneOfEach(cloud, { client: cloud.admin, name: "kept" });
  const seen = { answered: 0, holding: 0 };
  for (const { path, response } of reads) {
    const kind = /\/([a-z-]+)\/\{/.exec(path)?.[1];
    const { status, headers } = await ask(path.replace(/\{\w+\}/, (kind && ids[kind]) ?? "unknown"), { authorization });
    const isSecret = holdsCredential(response!);
    if (status === 200) seen.answered += 1;
    if (status === 200 && isSecret) seen.holding += 1;
    assert.match(headers.get("cache-control")!, /^(no-store|private, (no-cache|no-transform))$/, path);
    if (isSecret) assert.deepEqual([headers.get("cache-control"), headers.get("etag")], ["no-store", undefined], path);
  }
  assert.ok(seen.answered > 30 && seen.holding >= 5, JSON.stringify(seen));
});

test("an extension's link, which opens without a credential, is never cached", async () => {
  const zip = makeZip([
    {
      name: "package.json",
      content: JSON.stringify({ name: "x", publisher: "acme", version: "1", displayName: "X" }),
    },
  ]);
  const published = await fetch(`${cloud.url}/v1/extension-upload`, {
    method: "POST",
    headers: { authorization, "content-type": "application/octet-stream" },
    body: new Uint8Array(zip),
  });
  const { id } = (await published.json()) as { id: string };
  const answer = await ask(`/v1/extensions/${id}`, { authorization });
  assert.ok((JSON.parse(answer.text) as { foxe: string }).foxe);
  assert.deepEqual([answer.headers.get("cache-control"), answer.headers.get("etag")], ["no-store", undefined]);
});

test("401 names the credential that is required", async () => {
  for (const headers of [{}, { authorization: "Bearer unknown" }, { authorization: "Basic YTpi" }] as Record<
    string,
    string
  >[]) {
    const { status, headers: shown } = await ask("/v1/devices", headers);
    assert.deepEqual([status, shown.get("www-authenticate")], [401, 'Bearer realm="downlink"']);
  }
});

test("a compressed body is 415, and none is decompressed", async () => {
  const send = (encoding: string, path = "/v1/devices") =>
    fetch(`${cloud.url}${path}`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json", "content-encoding": encoding },
      body: JSON.stringify({ name: `packed-${encoding}` }),
    });
  for (const encoding of ["gzip", "br", "zstd", "gzip, identity"])
    for (const path of ["/v1/devices", "/v1/extension-upload"]) {
      const answer = await send(encoding, path);
      assert.deepEqual(
        [answer.status, ErrorBody.parse(await answer.json()).code],
        [415, "UnsupportedMediaType"],
        encoding,
      );
    }
  assert.equal((await send("identity")).status, 200);
});
