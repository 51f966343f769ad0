import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../core/errors.ts";
import { createLinkSigner, signLink } from "../core/signed-link.ts";
import { type Cursor, readCursor, writeCursor } from "./cursor.ts";

const signer = createLinkSigner(["a".repeat(32)]);
const binding = ["episodes.list", "org_1", ["prj_1"], [["start", 5n]]];
const cursor: Cursor = { direction: "backward", sortValue: "-9223372036854775808", id: "ep_ä\n" };

function isRejected(text: string, asked: { keys?: typeof signer; for?: readonly unknown[] } = {}): void {
  const { keys = signer, for: other = binding } = asked;
  assert.throws(
    () => readCursor(keys, other, text),
    (error) => error instanceof ApiError && error.code === "CursorRejected" && error.status === 400,
  );
}

test("a cursor is read back as it was written, for the same binding", () => {
  const text = writeCursor(signer, binding, cursor);
  assert.deepEqual(readCursor(signer, structuredClone(binding), text), cursor);
  assert.match(text, /^[\w.-]+$/); // a query takes it without encoding
});

test("a cursor of another operation, scope or filter is rejected", () => {
  const text = writeCursor(signer, binding, cursor);
  for (const [at, other] of ["datasets.list", "org_2", ["prj_2"], [["start", 6n]]].entries())
    isRejected(text, { for: binding.with(at, other) });
  isRejected(text, { for: [] });
});

test("a cursor is rejected when any character of it is changed, added or taken away", () => {
  const text = writeCursor(signer, binding, cursor);
  for (let at = 0; at < text.length; at++) {
    const swapped = text[at] === "A" ? "B" : "A";
    isRejected(text.slice(0, at) + swapped + text.slice(at + 1));
    isRejected(text.slice(0, at) + text.slice(at + 1));
  }
  for (const more of ["A", ".", "=", "\n"]) isRejected(text + more);
});

test("a text that was never a cursor is rejected", () => {
  const link = signLink(signer, { method: "GET", path: "/", claims: {}, expiresAtMs: 1e15 });
  for (const text of ["", "cursor", "..", link, "x".repeat(1e6), "\0", "ä".repeat(8)]) isRejected(text);
});

test("a cursor stays valid when the key that signed it is rotated, but not when that key is removed", () => {
  const text = writeCursor(signer, binding, cursor);
  const rotated = createLinkSigner(["b".repeat(32), "a".repeat(32)]);
  assert.deepEqual(readCursor(rotated, binding, text), cursor);
  isRejected(text, { keys: createLinkSigner(["b".repeat(32)]) });
});
