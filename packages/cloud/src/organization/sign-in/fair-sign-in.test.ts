import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, slowTest } from "@downlink/recordings/testing";
import { startCloud } from "../../testing/start-cloud.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { type Answered, Browser, PASSWORD } from "./testing/browser.ts";

const clock = createStoppedClock(BigInt(Date.now()) * 1_000_000n);
const environment = { DATABASE_URL: await createTestDatabase({ after }), DOWNLINK_TRUSTED_PROXIES: "127.0.0.0/8" };
const cloud = await startCloud({ after }, { works: false, clock, environment });
const replica = await startCloud({ after }, { works: false, clock, environment, dataDir: cloud.dataDir });
const { admin, deps } = cloud;
let made = 0;

const nextEmail = () => `person-${++made}@example.org`;

async function invite(email = nextEmail()) {
  const { link } = await admin.call(api.invitations.create, { email, role: "user" });
  return { email, token: link!.split("#")[1] };
}

function post(path: string, address: string, body: unknown): Promise<Answered> {
  return new Browser(cloud).ask({ method: "POST", path, body, headers: { "x-forwarded-for": address } });
}

const accept = (address: string, token: unknown) =>
  post("/v1/session/invitation", address, { token, password: PASSWORD });

async function newMember() {
  const { email, token } = await invite();
  assert.equal((await accept("192.0.2.200", token)).status, 200);
  const member = (await admin.call(api.members.list, {})).find((one) => one.email === email)!;
  return { id: member.id, email };
}

function signIn(address: string, given: { email: string; password?: string }, at = cloud): Promise<Answered> {
  const headers = { "x-forwarded-for": address };
  return new Browser(at).ask({ method: "POST", path: "/v1/session", body: { password: PASSWORD, ...given }, headers });
}

/** Keeps the passwords of e-mail addresses that have no account from being hashed until the returned function is called. */
function holdStrangers(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { passwords } = deps;
  const matches = passwords.matches.bind(passwords);
  passwords.matches = async (password, stored) => {
    if (stored === undefined) await promise;
    return matches(password, stored);
  };
  return () => {
    passwords.matches = matches;
    resolve();
  };
}

/** Begins so many sign-ins at once, and counts those that were refused already. */
function beginMany(count: number, begin: (at: number) => Promise<Answered>) {
  const refused = { count: 0 };
  const answers = Array.from({ length: count }, async (_, at) => {
    const { status } = await begin(at);
    if (status === 429) refused.count += 1;
    return status;
  });
  return {
    answers: Promise.all(answers),
    untilRefused: (some: number) => eventually(async () => refused.count === some, Boolean),
  };
}

const owners = { address: "198.51.100.1 strangers", network: "2001:db8:0:9::/64 strangers" };

for (const { name, tries, owner, addressOf } of [
  { name: "address", tries: test, owner: owners.address, addressOf: () => "198.51.100.1" },
  { name: "/64", tries: slowTest, owner: owners.network, addressOf: (at: number) => `2001:db8:0:9::${at + 1}` },
])
  tries(
    `40 sign-ins of one ${name} with made-up e-mail addresses hold up no member, neither elsewhere nor there`,
    async () => {
      const [member, neighbour, invited] = [await newMember(), await newMember(), await invite()];
      const { link } = await admin.call(api.members.resetPassword, { id: (await newMember()).id });
      const release = holdStrangers();
      const flood = beginMany(40, (at) => signIn(addressOf(at), { email: nextEmail() }));
      await eventually(
        async () => deps.turns.passwords.countOf(owner),
        (count) => count === 21,
      );
      assert.equal((await signIn("203.0.113.5", member)).status, 200);
      assert.equal((await signIn("2001:db8:0:a::1", member)).status, 200);
      assert.equal((await signIn(addressOf(41), neighbour)).status, 200);
      assert.equal((await accept(addressOf(42), invited.token)).status, 200);
      const reset = { token: link.split("#")[1], password: "staple correct horse" };
      assert.equal((await post("/v1/session/reset", addressOf(43), reset)).status, 200);
      await flood.untilRefused(19);
      release();
      assert.equal((await flood.answers).filter((status) => status === 401).length, 21);
    },
  );

slowTest("one account fills only its share of its address", async () => {
  const release = holdStrangers();
  const flood = beginMany(10, () => signIn("198.51.100.2", { email: "one@example.org" }));
  await flood.untilRefused(4);
  const another = signIn("198.51.100.2", { email: nextEmail() });
  await eventually(
    async () => deps.turns.passwords.countOf("198.51.100.2 strangers"),
    (count) => count === 7,
  );
  release();
  assert.equal((await another).status, 401);
  assert.equal((await flood.answers).filter((status) => status === 401).length, 6);
});

test("160 accounts from one address are slowed down over two processes, more and more, and a member gets in from there", async () => {
  const address = "198.51.100.3";
  const member = await newMember();
  const tryOne = (at: number) => signIn(address, { email: nextEmail() }, at % 2 ? cloud : replica);
  for (let at = 0; at < 30; at++) assert.equal((await tryOne(at)).status, 401);
  const rest = await Promise.all(Array.from({ length: 130 }, (_, at) => tryOne(at)));
  assert.equal(rest.filter(({ status }) => status === 401).length, 1);
  assert.equal(rest.filter(({ status, retryAfter }) => status === 429 && Number(retryAfter) > 0).length, 129);
  for (let at = 0; at < 25; at++) {
    clock.atNs += 8_000_000_000n;
    assert.equal((await tryOne(at)).status, 401);
  }
  assert.equal((await tryOne(0)).retryAfter, "4");
  assert.equal((await signIn(address, member)).status, 200);
  assert.equal((await signIn(address, member, replica)).status, 200);
  assert.equal((await signIn("198.51.100.4", { email: nextEmail() })).status, 401);
  clock.atNs += 600_000_000_000n;
  assert.equal((await tryOne(0)).status, 401);
});

slowTest(
  "from an address that is slowed down, a member's wrong password is answered as a made-up e-mail address is",
  async () => {
    const address = "198.51.100.5";
    const { email } = await newMember();
    for (let at = 0; at < 31; at++) await signIn(address, { email: nextEmail() });
    const guess = () => signIn(address, { email, password: "wrong" });
    const [stranger, ...guessed] = await Promise.all([
      signIn(address, { email: nextEmail() }),
      guess(),
      guess(),
      guess(),
    ]);
    assert.equal(stranger.status, 429);
    for (const { status, text, retryAfter } of guessed)
      assert.deepEqual([status, text, retryAfter], [429, stranger.text, stranger.retryAfter]);
    assert.equal((await signIn(address, { email })).status, 429, "after three wrong ones it waits as strangers do");
    assert.equal((await signIn("198.51.100.6", { email })).status, 200);
  },
);
