import assert from "node:assert/strict";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { after, test } from "node:test";
import { PublicFetchError } from "./allowed-address.ts";
import { fetchPublic } from "./public-fetch.ts";

let connections = 0;
const listener = createTcpServer((socket) => {
  connections += 1;
  socket.destroy();
}).listen(0);
after(() => listener.close());
const { port } = listener.address() as AddressInfo;

const refused = (sentence: RegExp) => (error: unknown) =>
  error instanceof PublicFetchError && sentence.test(error.message);

for (const host of [
  "127.0.0.1",
  "127.1",
  "0x7f000001",
  "2130706433",
  "0.0.0.0",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::7f00:1]",
  "[::ffff:0:7f00:1]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "[2001:0:7f00:1::]",
  "[fec0::1]",
  "[ff02::1]",
  "0177.0.0.1",
  "0x7f.1",
  "192.0.0.1",
  "198.18.0.1",
  "[fe80::1]",
  "[fd00::1]",
  "localhost",
])
  test(`${host} is no address of the public internet, and nothing connects to it`, async () => {
    await assert.rejects(
      fetchPublic(new URL(`https://${host}:${port}/`)),
      refused(/no address of the public internet/),
    );
    assert.equal(connections, 0);
  });

test("only https is requested, and no password is sent", async () => {
  await assert.rejects(fetchPublic(new URL(`http://example.org/`)), refused(/only https/));
  await assert.rejects(fetchPublic(new URL(`https://u:p@example.org/`)), refused(/password/));
});

test("a name that does not exist is named", async () => {
  await assert.rejects(fetchPublic(new URL("https://nothing.invalid/")), refused(/^nothing\.invalid: /));
});
