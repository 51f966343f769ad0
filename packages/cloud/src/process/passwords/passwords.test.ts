import assert from "node:assert/strict";
import { scryptSync } from "node:crypto";
import { test } from "node:test";
import { Passwords } from "./passwords.ts";

test("in production a password is hashed with 32 MiB and a salt of its own", async () => {
  const passwords = new Passwords();
  const stored = await Promise.all(["öne", "o\u0308ne"].map((password) => passwords.hash(password)));
  const [one, other] = stored.map((text) => text.split("$")) as [string[], string[]];
  assert.notEqual(one[1], other[1]);
  const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 };
  const hashed = scryptSync("öne", Buffer.from(one[1]!, "base64url"), 32, cost);
  assert.deepEqual(one, ["scrypt", one[1], hashed.toString("base64url")]);
  assert.ok(await passwords.matches("öne", stored[1]), "both are the same characters");
  assert.ok(!(await passwords.matches("one", stored[1])));
});
