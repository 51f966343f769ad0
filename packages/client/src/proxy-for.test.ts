import assert from "node:assert/strict";
import { test } from "node:test";
import { proxyFor } from "./proxy-for.ts";

const proxies = { httpProxy: "http://plain:1", httpsProxy: "http://secure:2" };

test("each kind of URL has a proxy of its own, and none if none is set", () => {
  assert.equal(proxyFor("http://a.example/x", proxies), "http://plain:1");
  assert.equal(proxyFor("https://a.example", proxies), "http://secure:2");
  assert.equal(proxyFor("https://a.example", { httpProxy: "http://plain:1" }), undefined);
  assert.equal(proxyFor("https://a.example", { httpsProxy: "" }), undefined);
  assert.equal(proxyFor("https://a.example", {}), undefined);
});

test("NO_PROXY names what is reached without a proxy: names and those below them, addresses, subnets, ports, everything", () => {
  const cases: [noProxy: string, url: string, isDirect: boolean][] = [
    ["example.com", "https://example.com", true],
    ["example.com", "https://Cloud.Example.COM./x", true],
    ["example.com", "https://notexample.com", false],
    [".example.com", "https://a.example.com", true],
    [".example.com", "https://example.com", true],
    ["*.example.com", "https://a.example.com", true],
    ["*.example.com", "https://example.com", false],
    ["a.example, b.example", "https://b.example", true],
    ["a.example b.example", "https://b.example", true],
    ["example.com:8443", "https://example.com:8443", true],
    ["example.com:8443", "https://example.com", false],
    ["example.com:443", "https://example.com", true],
    ["10.0.0.0/8", "http://10.1.2.3:80", true],
    ["10.0.0.0/8", "http://11.1.2.3", false],
    ["10.1.2.3", "http://10.1.2.3", true],
    ["10.0.0.1:81", "http://10.0.0.1", false],
    ["fd12::1", "http://[fd12::1]:9", true],
    ["[fd12::1]:9", "http://[fd12::1]:9", true],
    ["[fd12::1]:9", "http://[fd12::1]:10", false],
    ["fd00::/8", "http://[fd12::1]", true],
    ["10.0.0.0/99,10.0.0.0/x,/8,[", "http://10.0.0.1", false],
    ["*", "https://a.example", true],
    ["nothing.invalid,*", "http://1.2.3.4", true],
    ["", "https://a.example", false],
  ];
  for (const [noProxy, url, isDirect] of cases)
    assert.equal(proxyFor(url, { ...proxies, noProxy }) === undefined, isDirect, `${url} with NO_PROXY=${noProxy}`);
});

test("this machine is always reached without a proxy", () => {
  for (const host of ["localhost", "127.0.0.1", "127.8.9.10", "[::1]", "a.localhost"])
    assert.equal(proxyFor(`http://${host}:8080`, proxies), undefined, host);
});
