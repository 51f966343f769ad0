import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ApiError } from "./errors.ts";
import { createLinkSigner, type Link, signLink, verifyLink } from "./signed-link.ts";

const oldSecret = "a".repeat(32);
const newSecret = "b".repeat(40);
const signer = createLinkSigner([oldSecret]);
const link: Link = { method: "GET", path: "/x/1", claims: { topics: "/a=b&c", größe: "✓" }, expiresAtMs: 1000 };

test("a signed link returns any claims exactly, until the millisecond in which it expires", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string({ unit: "grapheme" })), fc.string(), (claims, path) => {
      const query = signLink(signer, { ...link, path, claims: { ...claims } });
      assert.deepEqual(open(query, { path }), { ...claims });
    }),
  );
  const query = signLink(signer, link);
  assert.deepEqual(open(query, { nowMs: 999 }), link.claims);
  assert.equal(
    codeOf(() => open(query, { nowMs: 1000 })),
    "LinkExpired",
  );
});

test("a signed link for GET is valid for HEAD and for nothing else", () => {
  const query = signLink(signer, link);
  assert.deepEqual(open(query, { method: "HEAD" }), link.claims);
  for (const method of ["PUT", "POST", "DELETE", "get"])
    assert.equal(
      codeOf(() => open(query, { method })),
      "LinkRefused",
      method,
    );
  const upload = signLink(signer, { ...link, method: "PUT" });
  assert.equal(
    codeOf(() => open(upload, { method: "HEAD" })),
    "LinkRefused",
  );
});

test("a signed link is refused once its path, expiry, claims or signature is changed", () => {
  const query = signLink(signer, link);
  assert.equal(
    codeOf(() => open(query, { path: "/x/2" })),
    "LinkRefused",
  );
  for (const [name, value] of [
    ["e", "2000"],
    ["c", Buffer.from('{"topics":"/b"}').toString("base64url")],
    ["s", "A".repeat(43)],
    ["k", "AAAAAAAA"],
  ] as const) {
    const changed = new URLSearchParams(query);
    changed.set(name, value);
    assert.equal(
      codeOf(() => open(changed.toString())),
      "LinkRefused",
      name,
    );
  }
});

test("a signed link tolerates parameters that others add", () => {
  assert.deepEqual(open(`${signLink(signer, link)}&utm_source=mail`), link.claims);
});

test("a signed link of the old key is valid while that key is kept, and new ones are signed with the first key", () => {
  const rotated = createLinkSigner([newSecret, oldSecret]);
  const [oldQuery, newQuery] = [signLink(signer, link), signLink(rotated, link)];
  assert.deepEqual(open(oldQuery, {}, rotated), link.claims);
  assert.deepEqual(open(newQuery, {}, createLinkSigner([newSecret])), link.claims);
  assert.equal(
    codeOf(() => open(oldQuery, {}, createLinkSigner([newSecret]))),
    "LinkRefused",
  );
});

test("a link of another shape is invalid, whatever is missing or odd, and never another failure", () => {
  const query = signLink(signer, link);
  for (const name of ["v", "k", "e", "c", "s"]) {
    const without = new URLSearchParams(query);
    without.delete(name);
    assert.equal(
      codeOf(() => open(without.toString())),
      "InvalidLink",
      name,
    );
  }
  fc.assert(
    fc.property(fc.constantFrom("v", "k", "e", "c", "s"), fc.string(), (name, value) => {
      const changed = new URLSearchParams(query);
      fc.pre(changed.get(name) !== value);
      changed.set(name, value);
      assert.match(
        codeOf(() => open(changed.toString())),
        /^(InvalidLink|LinkRefused)$/,
      );
    }),
  );
});

test("no signer is made without a secret, or with a short one", () => {
  assert.throws(() => createLinkSigner([]), RangeError);
  assert.throws(() => createLinkSigner([oldSecret, "short"]), RangeError);
});

function open(query: string, request: { method?: string; path?: string; nowMs?: number } = {}, by = signer) {
  const { method, path } = link;
  return verifyLink(by, { method, path, nowMs: 0, ...request, query: new URLSearchParams(query) });
}

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    assert(error instanceof ApiError);
    return error.code;
  }
  return assert.fail("was accepted");
}
