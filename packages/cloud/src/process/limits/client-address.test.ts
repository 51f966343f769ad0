import assert from "node:assert/strict";
import { test } from "node:test";
import { clientAddress, isTrusted, parseNetworks } from "./client-address.ts";

const proxies = parseNetworks("10.0.0.0/8, 2001:db8:1::/48, 192.0.2.7");

test("without trusted proxies no X-Forwarded-For counts", () => {
  assert.equal(clientAddress("203.0.113.5", "1.1.1.1", []), "203.0.113.5");
  assert.equal(clientAddress("10.1.2.3", "1.1.1.1", []), "10.1.2.3");
});

test("behind proxies the right-most address that is no proxy counts, whatever stands left of it", () => {
  for (const [forwarded, address] of [
    ["198.51.100.1", "198.51.100.1"],
    ["1.1.1.1, 198.51.100.1", "198.51.100.1"],
    ["1.1.1.1, 198.51.100.1, 10.9.9.9, 192.0.2.7", "198.51.100.1"],
    ["198.51.100.1:4711", "198.51.100.1"],
    [undefined, "10.0.0.1"],
    ["unknown", "10.0.0.1"],
    ["10.0.0.9", "10.0.0.9"],
    [`${"1.1.1.1,".repeat(10_000)} 198.51.100.1`, "198.51.100.1"],
  ] as const)
    assert.equal(clientAddress("10.0.0.1", forwarded, proxies), address, forwarded);
});

test("an address that is no proxy cannot speak for others", () => {
  assert.equal(clientAddress("203.0.113.5", "10.0.0.1, 198.51.100.1", proxies), "203.0.113.5");
});

test("IPv6 counts by /64, IPv4 in IPv6 as IPv4", () => {
  const networkOf = (address: string) => clientAddress(address, undefined, []);
  assert.equal(networkOf("2001:db8:0:1::1"), networkOf("2001:db8:0:1:ffff:ffff:ffff:ffff"));
  assert.notEqual(networkOf("2001:db8:0:1::1"), networkOf("2001:db8:0:2::1"));
  assert.equal(networkOf("::ffff:203.0.113.5"), "203.0.113.5");
  assert.equal(clientAddress("2001:db8:1::9", "[2001:db8:2::1]:443", proxies), "2001:db8:2:0::/64");
  assert(isTrusted("::ffff:10.3.2.1", proxies));
  assert(!isTrusted("11.0.0.1", proxies));
});

test("an invalid network is named in the error", () => {
  for (const text of ["10.0.0.0/33", "proxy.example", "10", "1.2.3.4/", "::1/129"])
    assert.throws(() => parseNetworks(`127.0.0.1,${text}`), new RegExp(`"${text}" is no address`));
});
