import assert from "node:assert/strict";
import { test } from "node:test";
import { findAddressFault } from "./postgres-address.ts";

test("addresses that lead to a Postgres are good, through a socket, too", () => {
  for (const address of [
    "postgres://h",
    "postgresql://me:se%23cret@h:5432/db?sslmode=disable",
    "postgresql:///db?host=/run/postgresql",
    "postgresql://me@/db?host=/run/postgresql&port=5433",
  ])
    assert.equal(findAddressFault(address), undefined, address);
});

test("a malformed address is called so, and no part of it is repeated", () => {
  for (const address of [
    "postgres://",
    "postgres:secret",
    "mysql://me:secret@h/db",
    "postgresql://me:secret#1@h/db",
    "postgresql://me:secret/1@h/db",
    "postgresql://me:secret@h:99999/db",
    "postgresql://me:secret@h/db?port=secret",
  ]) {
    const fault = findAddressFault(address)!;
    assert.match(fault, /^is malformed: it must be an address such as /, address);
    assert.doesNotMatch(fault, /secret|99999/);
  }
});

test("a certificate that the address names and that is not there is named", () => {
  const fault = findAddressFault("postgresql://me:secret@h/db?sslmode=verify-full&sslrootcert=/none.pem");
  assert.equal(fault, "names the file /none.pem, which cannot be read (ENOENT)");
});
