import assert from "node:assert/strict";
import { test } from "node:test";
import {
  SalvageRefusedError,
  ThreadFailedError,
  ThreadOutOfMemoryError,
  TooHeavyError,
} from "../../background/indexing/indexing-errors.ts";
import { BlobNotFoundError } from "../../store/blobs/blob-errors.ts";
import { IngestError, toIngestError } from "./ingest-failure.ts";

const codeOf = (error: unknown, attempt: number) => toIngestError(error, attempt)?.code;
const sqlError = (code: string) => Object.assign(new Error("query failed"), { code });

test("a failure because of what the file is, costs or holds is permanent at the first attempt", () => {
  assert.equal(codeOf(new IngestError("KeyTaken", "taken"), 1), "KeyTaken");
  for (const error of [new TooHeavyError("too slow"), new ThreadOutOfMemoryError(512)])
    assert.equal(codeOf(error, 1), "TooHeavy");
  assert.equal(codeOf(new SalvageRefusedError({ code: "SalvageEmpty", text: "nothing" }), 1), "SalvageEmpty");
  for (const state of ["54000", "22021"]) assert.equal(codeOf(sqlError(state), 1), "CannotBeStored");
});

test("a failure that the machine may have caused is tried again for half an hour; one that heals by itself, for ever", () => {
  for (const [error, code] of [
    [new ThreadFailedError("it ended"), "IndexingFailed"],
    [new BlobNotFoundError("org/upl"), "ObjectMissing"],
  ] as const)
    assert.deepEqual([codeOf(error, 1), codeOf(error, 11), codeOf(error, 12)], [undefined, undefined, code]);
  for (const error of [new Error("EIO"), sqlError("40001"), sqlError("57P01"), sqlError("ECONNREFUSED")])
    assert.equal(codeOf(error, 1000), undefined);
});
