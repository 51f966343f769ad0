import assert from "node:assert/strict";
import { test } from "node:test";
import { NetworkError } from "@downlink/client";
import { problemOf } from "./describe-failure.ts";

const causes: readonly [string, string][] = [
  ["ENOTFOUND", "NameUnresolved"],
  ["EAI_AGAIN", "NameUnresolved"],
  ["CERT_HAS_EXPIRED", "TlsFailed"],
  ["CERT_NOT_YET_VALID", "TlsFailed"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "TlsFailed"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "TlsFailed"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "TlsFailed"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "TlsFailed"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "TlsFailed"],
  ["ECONNRESET", "CloudUnreachable"],
  ["ENETUNREACH", "CloudUnreachable"],
  ["UND_ERR_CONNECT_TIMEOUT", "CloudUnreachable"],
];

test("names that do not resolve, broken trust and a missing network are different problems", () => {
  const found = causes.map(([code]) => [code, problemOf(new NetworkError("x", Object.assign(new Error(), { code })))]);
  assert.deepEqual(found, causes);
  assert.equal(problemOf(new NetworkError("no answer within 60 s")), "CloudUnreachable");
});
