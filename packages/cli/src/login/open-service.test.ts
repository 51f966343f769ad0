import assert from "node:assert/strict";
import { mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { UsageError } from "../failures/failures.ts";
import { watchKeys } from "../testing/watch-keys.ts";
import { loginFile, writeLogin } from "./kept-login.ts";
import { checkUrl, openService } from "./open-service.ts";

const HERE = "http://127.0.0.1:1";

function newHome() {
  const environment = { XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), "downlink-dl-")) };
  const file = loginFile(environment);
  const open = (url?: string, more = {}) =>
    openService({ url, environment: { ...environment, ...more }, signal: new AbortController().signal });
  return { file, open };
}

test("only its owner may read the file with the key, also after it was written over", () => {
  const { file } = newHome();
  for (const apiKey of ["one", "two"]) {
    writeLogin(file, { url: HERE, apiKey });
    assert.equal(statSync(file).mode & 0o777, 0o600);
  }
});

test("who did not log in hears how; a file that nobody can read is named", () => {
  const { file, open } = newHome();
  assert.throws(() => open(), /^UsageError: No control plane is known. Log in first: dl login URL$/);
  writeLogin(file, { url: HERE, apiKey: "key" });
  writeFileSync(file, "{");
  assert.throws(() => open(), new UsageError(`${file} cannot be read. Log in again: dl login URL`));
});

test("a key that was kept for one address is sent there and nowhere else", async () => {
  const { file, open } = newHome();
  await using kept = await watchKeys();
  await using other = await watchKeys();
  writeLogin(file, { url: kept.url, apiKey: "kept" });
  assert.throws(() => open(other.url), /There is no API key for/);
  for (const service of [open(), open(kept.url), open(other.url, { DOWNLINK_API_KEY: "given" })]) {
    await service.client.call(api.recordings.list, {});
    await service[Symbol.asyncDispose]();
  }
  assert.deepEqual([kept.keys, other.keys], [["Bearer kept", "Bearer kept"], ["Bearer given"]]);
});

test("an address is a scheme, a host and perhaps a path", () => {
  assert.equal(checkUrl("https://a.example/downlink/"), "https://a.example/downlink");
  for (const text of ["a.example", "ftp://a.example", "https://user:password@a.example", "https://a.example/?x", ""])
    assert.throws(() => checkUrl(text), UsageError, text);
});
