import assert from "node:assert/strict";
import { test } from "node:test";
import { DecodeError } from "@downlink/messages/value";
import { type Attempt, findPicture, type Picture, readPicture } from "./find-picture.ts";

const message = (width: number) => ({ encoding: "mono8", width, height: 1, data: new Uint8Array(width) });
const good: Attempt = { timeNs: 3, read: () => readPicture(message(4)) };
const bad: Attempt = { timeNs: 1, read: () => readPicture({ data: Uint8Array.of(0xff, 0xd8) }) };
const toBitmap = async (picture: Picture) => ({ width: "width" in picture ? picture.width : 0, height: 1 });

test("a picture that cannot be read is named, and the next good one is shown", async () => {
  const expected = { timeNs: 3, width: 4, height: 1, bitmap: { width: 4, height: 1 } };
  assert.deepEqual(await findPicture([good, bad], toBitmap), expected);
  const problem = "The picture begins as a JPEG and does not say its size.";
  assert.deepEqual(await findPicture([bad, bad, good], toBitmap), { ...expected, problem });
});

test("a picture that the browser refuses counts as one that cannot be read, and another error does not", async () => {
  const refuse = () => Promise.reject(new DecodeError("The browser cannot read the picture."));
  await assert.rejects(findPicture([good, bad], refuse), { message: "The browser cannot read the picture." });
  await assert.rejects(findPicture([], toBitmap), { name: "DecodeError" });
  await assert.rejects(
    findPicture([good], () => Promise.reject(new TypeError("a mistake"))),
    TypeError,
  );
});
