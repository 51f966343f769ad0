import assert from "node:assert/strict";
import type { lookup as lookUp } from "node:dns";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { after, test } from "node:test";
import { parseNetworks } from "../limits/client-address.ts";
import { lookUpAllowed, requireKeepableUrl } from "./allowed-address.ts";
import { OutgoingPosts } from "./outgoing-posts.ts";

let connections = 0;
const silent = createServer((socket) => {
  connections += 1;
  socket.on("error", () => {});
}).listen(0, "127.0.0.1");
await once(silent, "listening");
after(() => silent.close());
const { port } = silent.address() as AddressInfo;
const never = new AbortController().signal;

async function refusalOf(host: string, { allowed = "", scheme = "https" } = {}): Promise<string> {
  await using posts = new OutgoingPosts(parseNetworks(allowed), 100);
  const post = { url: `${scheme}://${host}:${port}/`, headers: {}, body: "{}" };
  return await posts.send(post, never).then(
    () => "it was sent",
    (error: Error) => error.message,
  );
}

test("nothing connects to a private address, however it is written, nor to a name that leads there", async () => {
  const hosts = ["127.0.0.1", "2130706433", "0177.0.0.1", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]"];
  for (const host of hosts) assert.match(await refusalOf(host), /no address of the public internet/, host);
  const ofName = await refusalOf("localhost");
  assert.match(ofName, /leads to no address of the public internet/);
  assert.doesNotMatch(ofName, /127\.0|::1/, "who names a host learns no address");
  assert.equal(connections, 0);
});

test("a network that the operator allows is connected to, also without TLS, and no other one is", async () => {
  for (const host of ["127.0.0.1", "localhost", "8.8.8.8"])
    assert.match(await refusalOf(host, { allowed: "10.0.0.0/8", scheme: "http" }), /plain http is for the networks/);
  assert.match(await refusalOf("127.0.0.1", { scheme: "http" }), /only https/);
  assert.equal(connections, 0);
  assert.match(await refusalOf("127.0.0.1", { allowed: "127.0.0.0/8", scheme: "http" }), /no answer within 0.1 s/);
  assert.equal(connections, 1);
});

/** Resolves a name to these addresses, one list for each time it is looked up. */
function resolving(...answers: readonly string[][]): typeof lookUp {
  const left = [...answers];
  const resolve = (_host: string, _options: object, answer: (error: null, found: object[]) => void) =>
    answer(
      null,
      left.shift()!.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  return resolve as never;
}

const lookUpOnce = (look: ReturnType<typeof lookUpAllowed>) =>
  new Promise((resolve) => look("name", { all: true }, (error, found) => resolve(error ? "refused" : found)));

test("a name with public and private addresses is refused whole, and one that changes is looked at each time", async () => {
  const rule = { allowed: [], isPublic: true };
  const mixed = lookUpAllowed(rule, resolving(["93.184.215.14", "10.0.0.1"]));
  assert.equal(await lookUpOnce(mixed), "refused");
  const changing = lookUpAllowed(rule, resolving(["93.184.215.14"], ["169.254.169.254"]));
  assert.deepEqual(await lookUpOnce(changing), [{ address: "93.184.215.14", family: 4 }], "what was looked at is used");
  assert.equal(await lookUpOnce(changing), "refused");
});

test("a name is kept with plain http only if all of its addresses are in an allowed network, and with https unseen", async () => {
  const allowed = parseNetworks("10.0.0.0/8");
  const keep = (url: string, ...addresses: string[]) => requireKeepableUrl(new URL(url), allowed, resolving(addresses));
  await keep("http://receiver.internal/x", "10.0.0.1", "10.0.0.2");
  await keep("https://example.org/x");
  for (const addresses of [["93.184.215.14"], ["10.0.0.1", "93.184.215.14"], ["127.0.0.1"]])
    await assert.rejects(keep("http://example.org/x", ...addresses), /example\.org: plain http is for the networks/);
  const lost = ((_host: string, _options: object, answer: (error: Error) => void) =>
    answer(new Error("ENOTFOUND"))) as never;
  await assert.rejects(requireKeepableUrl(new URL("http://nowhere.example/"), allowed, lost), /does not lead there/);
});
