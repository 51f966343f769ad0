import assert from "node:assert/strict";
import { existsSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loginFile, writeLogin } from "./kept-login.ts";
import { logOut } from "./log-out.ts";

test("a logout removes the kept key without showing it, says that it still works, and is no error a second time", async () => {
  const environment = { XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), "downlink-dl-")) };
  const file = loginFile(environment);
  writeLogin(file, { url: "https://a.example", apiKey: "dl_sk_secret" });
  const said = (await logOut(environment)).join("\n");
  assert.equal(existsSync(file), false);
  assert.match(
    said,
    /^The address https:\/\/a\.example and its API key .*\n.*still works.*https:\/\/a\.example\/settings\/keys$/,
  );
  assert.equal(said.includes("secret"), false);
  assert.match(
    (await logOut({ ...environment, DOWNLINK_API_KEY: "other" })).join("\n"),
    /^There is no login.*\nDOWNLINK_API_KEY is set/,
  );
  writeFileSync(file, "{");
  assert.match((await logOut(environment)).join("\n"), /could not be read, and was removed/);
  assert.equal(existsSync(file), false);
});
