import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import { answerJson, serve } from "@downlink/client/testing";
import { api } from "@downlink/protocol";
import { loginFile } from "./kept-login.ts";
import { type LoginFlags, logIn } from "./log-in.ts";
import { logOut } from "./log-out.ts";
import { openService } from "./open-service.ts";

interface Asked {
  readonly path: string;
  readonly token: string | undefined;
}

type Ways = "old" | "keys only" | "members";
const me = { id: "mem_1", orgId: "org_1", orgDisplayName: "Example", orgSlug: "e", email: "ann@example.org" };
const session = {
  createdAt: "2026-01-01T00:00:00Z",
  lastUsedAt: "2026-01-01T00:00:00Z",
  expiresAt: "2026-04-01T00:00:00Z",
};

/** Starts a service whose only member approves every code at once. */
async function startService(ways: Ways) {
  const asked: Asked[] = [];
  let isEnded = false;
  const answers: Record<string, object> = {
    "GET /v1/session": { passwords: true, oidc: false, accounts: ways === "members", signedIn: false },
    "POST /v1/auth/device-code": {
      ...{ deviceCode: "code", userCode: "BCDF", expiresIn: 600, interval: 0 },
      ...{ verificationUri: "https://a.example", verificationUriComplete: "https://a.example" },
    },
    "POST /v1/auth/token": { idToken: "once" },
    "POST /v1/signin": { bearerToken: "dl_ses_secret" },
    "GET /v1/me": { ...me, admin: true, kind: "member", capabilities: [], isLimited: false, projects: [] },
    "GET /v1/me/sessions": [
      { id: "ses_other", ...session, isCurrent: false },
      { id: "ses_own", ...session, isCurrent: true },
    ],
    "DELETE /v1/me/sessions/ses_own": { id: "ses_own" },
    "GET /v1/recordings?limit=1": [],
  };
  const server = await serve((request, response) => {
    const path = `${request.method} ${request.url}`;
    asked.push({ path, token: request.headers.authorization });
    if (isEnded) return answerJson(response, 401, { error: "the token is unknown", code: "Unauthenticated" });
    if (ways === "old" && path === "GET /v1/session")
      return answerJson(response, 404, { error: "no such path", code: "NotFound" });
    answerJson(response, 200, answers[path] ?? []);
  });
  const end = () => {
    isEnded = true;
  };
  return Object.assign(server, { asked, end });
}

function newHome() {
  const environment = { XDG_CONFIG_HOME: mkdtempSync(join(tmpdir(), "downlink-dl-")) };
  const file = loginFile(environment);
  const login = async (url: string, flags: LoginFlags, typed = "") => {
    const input = Readable.from([typed]) as unknown as NodeJS.ReadStream;
    const notes = new PassThrough();
    const said = await logIn(url, flags, { input, notes, environment }).catch(String);
    return { said, noted: String(notes.read()) };
  };
  const open = () => openService({ url: undefined, environment, signal: new AbortController().signal });
  return { environment, file, login, open };
}

test("a login by a code keeps the session as only its owner may read, uses it, and ends it at the service with a logout", async () => {
  const { environment, file, login, open } = newHome();
  await using server = await startService("members");
  const { said } = await login(server.url, { code: true });
  assert.equal(said, `Signed in to ${server.url} as ann@example.org of Example. The session is in ${file}.`);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await using service = open();
  await service.client.call(api.events.list, {});
  assert.equal(server.asked.at(-1)!.token, "Bearer dl_ses_secret");
  const out = (await logOut(environment)).join("\n");
  assert.match(out, /^The session at .* was removed from .*\nIt has ended\.$/);
  assert.deepEqual(server.asked.at(-1), { path: "DELETE /v1/me/sessions/ses_own", token: "Bearer dl_ses_secret" });
  assert.equal(existsSync(file), false);
});

test("a session that has ended is no riddle: the next call says how to sign in again, and a logout that it had ended", async () => {
  const { environment, login, open } = newHome();
  await using server = await startService("members");
  await login(server.url, { code: true });
  server.end();
  await using service = open();
  await assert.rejects(
    service.client.call(api.recordings.list, {}),
    /^RefusedError: The session that dl login began has ended. Sign in again: dl login http/,
  );
  assert.match((await logOut(environment)).join("\n"), /It had ended before/);
});

test("a service that cannot be reached ends no session, and the login is removed all the same", async () => {
  const { environment, file, login } = newHome();
  const server = await startService("members");
  await login(server.url, { code: true });
  await server[Symbol.asyncDispose]();
  assert.match((await logOut(environment)).join("\n"), /could not be ended at the service .*\/settings\/account$/);
  assert.equal(existsSync(file), false);
});

test("a key from the standard input is kept as before, and nothing is asked of members", async () => {
  const { file, login } = newHome();
  await using server = await startService("members");
  const { said } = await login(server.url, {}, "dl_sk_1\n");
  assert.equal(said, `The API key for ${server.url} works, and is in ${file}.`);
  assert.equal(JSON.parse(readFileSync(file, "utf8")).apiKey, "dl_sk_1");
  assert.deepEqual(server.asked, [{ path: "GET /v1/recordings?limit=1", token: "Bearer dl_sk_1" }]);
});

test("where no member can approve, --code is refused with the reason", async () => {
  for (const [ways, why] of [
    ["old", /does not offer a sign-in by a code/],
    ["keys only", /has no members yet/],
  ] as const) {
    const { file, login } = newHome();
    await using server = await startService(ways);
    assert.match((await login(server.url, { code: true })).said, why);
    assert.equal(existsSync(file), false);
  }
});
