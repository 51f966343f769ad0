import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { readConfig } from "../../config.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";

const PATH = "/.well-known/security.txt";
const environment = {
  DOWNLINK_PUBLIC_URL: "https://downlink.example.org",
  DOWNLINK_SECURITY_CONTACT: "mailto:security@example.org",
};
const clock = createStoppedClock(BigInt(Date.UTC(2026, 0, 1, 12)) * 1_000_000n);
const cloud = await startCloud({ after }, { works: false, clock, environment });
const plain = await startCloud({ after }, { works: false });

test("security.txt says where to report a fault, as the operator said, and until when that is true", async () => {
  const answer = await fetch(`${cloud.url}${PATH}`);
  assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "text/plain; charset=utf-8"]);
  assert.deepEqual((await answer.text()).split("\n"), [
    "Contact: mailto:security@example.org",
    "Expires: 2026-06-30T00:00:00.000Z",
    `Canonical: https://downlink.example.org${PATH}`,
    "",
  ]);
});

test("without a contact there is no security.txt: 404", async () => {
  assert.equal((await fetch(`${plain.url}${PATH}`)).status, 404);
});

test("a contact is an address of e-mail or of a page with https, in one line", () => {
  const read = (contact: string) => readConfig({ DOWNLINK_SECURITY_CONTACT: contact }).securityContact;
  assert.equal(read("https://example.org/security?a"), "https://example.org/security?a");
  for (const wrong of ["security@example.org", "http://example.org", "mailto:x", "https://a\nContact: https://b"])
    assert.throws(() => read(wrong), /DOWNLINK_SECURITY_CONTACT: must be an address such as mailto:/, wrong);
});

test("where the public URL begins with https, each answer keeps browsers there for a year; else none says so", async () => {
  const policyOf = async (url: string) => (await fetch(url)).headers.get("strict-transport-security");
  for (const path of ["/livez", "/v1/devices", "/nowhere", "/docs", "/data-plane/exports"]) {
    assert.equal(await policyOf(`${cloud.url}${path}`), "max-age=31536000", path);
    assert.equal(await policyOf(`${plain.url}${path}`), null, path);
  }
  const { hostname, port } = new URL(cloud.url);
  for (const head of ["NONSENSE\r\n\r\n", "GET / HTTP/1.1\r\nHost: a/b?c\r\nConnection: close\r\n\r\n"]) {
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.write(head);
    assert.match(await text(socket), /^HTTP\/1\.1 400.*\r\nstrict-transport-security: max-age=31536000\r\n/is);
  }
});
