import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { answerJson, readBody, serve } from "@downlink/client/testing";
import { signInProgram } from "./sign-in-program.ts";

type Answer = readonly [status: number, body: object, headers?: Record<string, string>];
const pending: Answer = [403, { error: "wait", code: "AuthorizationPending" }];
const denied: Answer = [401, { error: "the device code is unknown", code: "Unauthenticated" }];
const EXPIRY_SECONDS = 600;

/** Begins a sign-in whose questions get these answers, in turn; `cut` breaks the connection. */
async function signIn(answers: readonly (Answer | "cut")[]) {
  const asked: Record<string, unknown>[] = [];
  let [nowMs, questions] = [0, 0];
  await using server = await serve(async (request, response) => {
    const body = JSON.parse((await readBody(request)).toString());
    if (request.url === "/v1/auth/device-code")
      return answerJson(response, 200, {
        ...{ deviceCode: "secret", userCode: "BCDF-GHJK", expiresIn: EXPIRY_SECONDS, interval: 5 },
        ...{ verificationUri: "https://a.example/x", verificationUriComplete: "https://a.example/x?code=BCDF-GHJK" },
      });
    asked.push(body);
    if (request.url === "/v1/signin") return answerJson(response, 200, { bearerToken: `session of ${body.idToken}` });
    const answer = answers[questions++] ?? pending;
    if (answer === "cut") return void response.destroy();
    for (const [name, value] of Object.entries(answer[2] ?? {})) response.setHeader(name, value);
    answerJson(response, answer[0], answer[1]);
  });
  await using transport = undiciTransport();
  const waits: number[] = [];
  const notes = new PassThrough();
  const wait = async (ms: number) => {
    nowMs += ms;
    waits.push(ms);
  };
  const client = createClient({ baseUrl: server.url, transport });
  const signed = await signInProgram(client, { notes, wait, nowMs: () => nowMs }).catch((error: Error) => error);
  return { signed, waits, asked, shown: String(notes.read()) };
}

test("a program asks until a member has approved, also over broken connections, and shows the code and never its secret", async () => {
  const { signed, waits, asked, shown } = await signIn([pending, "cut", [200, { idToken: "one" }]]);
  assert.equal(signed, "session of one");
  assert.deepEqual(waits, [5000, 5000, 5000]);
  assert.ok(asked.slice(0, 3).every(({ deviceCode }) => deviceCode === "secret"));
  assert.equal(new Set(asked.slice(0, 3).map(({ clientId }) => clientId)).size, 1);
  assert.match(shown, /^Open https:\/\/a\.example\/x .*\n\n {4}BCDF-GHJK\n\nOr open https:\/\/a\.example\/x\?code=/);
  assert.equal(shown.includes("secret"), false);
});

test("a program that asks too often asks less often from then on, and not before it may", async () => {
  const slower: Answer = [429, { error: "slower", code: "TooManyRequests" }, { "retry-after": "30" }];
  const { waits } = await signIn([slower, pending, slower, [200, { idToken: "one" }]]);
  assert.deepEqual(waits, [5000, 30_000, 10_000, 30_000]);
});

test("a denied code and one that is too old end the sign-in with the reason", async () => {
  const { signed, waits } = await signIn([pending, denied]);
  assert.match(String(signed), /^RefusedError: The sign-in was denied/);
  assert.equal(waits.length, 2);
  const late = await signIn([]);
  assert.match(String(late.signed), /^RefusedError: The code has expired/);
  assert.equal(late.waits.length, EXPIRY_SECONDS / 5);
});

test("an answer that no further question changes ends the sign-in", async () => {
  const { signed, waits } = await signIn([[400, { error: "no such program", code: "InvalidRequest" }]]);
  assert.match(String(signed), /ApiCallError: no such program/);
  assert.equal(waits.length, 1);
});
