import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiCallError } from "@downlink/client";
import { explainFailure, explainRefusal } from "./failure.ts";

test("a session that ended is called so, and a sign-in that is refused says why", () => {
  const error = new ApiCallError({ status: 401, code: "Unauthenticated", message: "the password is wrong" });
  const ended = explainFailure(error);
  assert.deepEqual([ended.kind, ended.text], ["signedOut", "The session has ended."]);
  const refused = explainRefusal(error);
  assert.deepEqual([refused.kind, refused.text], ["refused", "The password is wrong."]);
});
