import assert from "node:assert/strict";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { findBarriers } from "./testing/axe.ts";
import { openPage, whyNoBrowser } from "./testing/browser.ts";
import { keptSecrets } from "./testing/kept-secrets.ts";
import { PASSWORD, startPeople } from "./testing/start-people.ts";

const skip = whyNoBrowser();
const toPath = (link: string) => link.slice(new URL(link).origin.length);

test("who is invited joins with a password of their own, and the link's secret stays nowhere", { skip }, async (t) => {
  const { admin, openAlone, projectId } = await startPeople(t);
  const { link } = await admin.call(api.invitations.create, { email: "ada@example.org", role: "user" });
  const { page, complaints } = await openAlone(toPath(link!));
  const sent: string[] = [];
  page.on("request", (request) => sent.push(`${request.url()} ${request.headers().referer ?? ""}`));
  await page.getByRole("heading", { name: /^Join / }).waitFor();
  assert.match(page.url(), /\/sign-in\/invitation$/);
  assert.deepEqual(await keptSecrets(page), []);

  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("New password").fill("too short");
  await page.getByLabel("Repeat the password").fill("too short");
  await page.getByRole("button", { name: "Join" }).click();
  assert.equal((await admin.call(api.members.list, {})).length, 0, "a short password is not sent");
  await page.getByLabel("New password").fill(PASSWORD);
  await page.getByLabel("Repeat the password").fill("something else altogether");
  await page.getByText("The two passwords differ.").waitFor();
  await page.getByLabel("Repeat the password").fill(PASSWORD);
  await page.getByRole("button", { name: "Join" }).click();
  await page.waitForURL(new RegExp(`/p/${projectId}/`));
  const members = await admin.call(api.members.list, {});
  assert.deepEqual(
    members.map(({ email, name, role }) => [email, name, role]),
    [["ada@example.org", "Ada", "user"]],
  );
  assert.deepEqual(await keptSecrets(page), []);
  assert.deepEqual(
    sent.filter((one) => one.includes("dl_inv_")),
    [],
    "the secret is in no address that was asked",
  );

  const again = await openAlone(toPath(link!));
  await again.page.getByText("This link no longer works.").waitFor();
  assert.deepEqual([...complaints, ...again.complaints], []);
});

test("who has an account joins another organization with the password they have, which stays", { skip }, async (t) => {
  const { openAsMember, openAlone, otherOrganization, url } = await startPeople(t);
  const first = await openAsMember("/", "grace@example.org");
  await first.context.close();
  const other = await otherOrganization();
  const { link } = await other.call(api.invitations.create, { email: "grace@example.org", role: "user" });
  const { page, complaints } = await openAlone(toPath(link!));
  await page.getByText("You have an account here already.").waitFor();
  await page.getByLabel("Your password").fill("not the password");
  await page.getByRole("button", { name: "Join" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Your password").fill(PASSWORD);
  await page.getByRole("button", { name: "Join" }).click();
  await page.waitForURL(/\/p\//);
  assert.equal((await other.call(api.members.list, {})).length, 1);

  const { page: door, complaints: more } = await openAlone("/sign-in?next=//evil.example/");
  await door.getByLabel("E-mail").fill("Grace@example.org");
  await door.getByLabel("Password").fill(PASSWORD);
  await door.getByRole("button", { name: "Sign in" }).click();
  const choice = door.getByRole("group", { name: /several organizations/ });
  await choice.waitFor();
  assert.deepEqual(await findBarriers(door), []);
  const { orgDisplayName } = await other.call(api.me.get, {});
  await choice.getByRole("button", { name: orgDisplayName }).click();
  await door.waitForURL(/\/p\//);
  assert.equal(new URL(door.url()).origin, url);
  const me = (await (await door.request.get(`${url}/v1/me`)).json()) as { orgDisplayName: string };
  assert.equal(me.orgDisplayName, orgDisplayName);
  assert.deepEqual([...complaints, ...more], []);
});

test("a wrong password is said to be wrong, and after many the page waits as long as it is told to", {
  skip,
}, async (t) => {
  const { openAlone, openAsMember } = await startPeople(t);
  await openAsMember("/", "ada@example.org");
  const { page, complaints } = await openAlone("/sign-in");
  await page.getByLabel("E-mail").fill("ada@example.org");
  const wait = page.getByRole("button", { name: /^Wait \d+ s$/ });
  for (let tries = 0, status = 0; tries < 30 && status !== 429; tries++) {
    await page.getByLabel("Password").fill(`wrong ${tries}`);
    const answered = page.waitForResponse((response) => response.url().endsWith("/v1/session"));
    await page.getByRole("button", { name: "Sign in" }).click();
    status = (await answered).status();
    await page
      .getByRole("alert")
      .getByText(status === 429 ? "Too busy." : "Not accepted.")
      .waitFor();
  }
  await wait.waitFor();
  assert.equal(await wait.isDisabled(), true);
  assert.equal(await page.getByLabel("E-mail").inputValue(), "ada@example.org", "what was typed stays");
  assert.deepEqual(complaints, []);
});

test("a forgotten password is replaced by the admin's link, and all sessions end", { skip }, async (t) => {
  const { admin, openAsMember, openAlone, url } = await startPeople(t);
  const before = await openAsMember("/", "ada@example.org");
  const [member] = await admin.call(api.members.list, {});
  const { link } = await admin.call(api.members.resetPassword, { id: member!.id });
  const { page, complaints } = await openAlone(toPath(link));
  await page.getByText("ada@example.org").waitFor();
  assert.match(page.url(), /\/sign-in\/reset$/);
  assert.deepEqual(await keptSecrets(page), []);
  await page.getByLabel("New password").fill("another password altogether");
  await page.getByLabel("Repeat the password").fill("another password altogether");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByText("One session ended.").waitFor();
  assert.equal((await before.page.request.get(`${url}/v1/me`)).status(), 401);
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByLabel("E-mail").fill("ada@example.org");
  await page.getByLabel("Password").fill("another password altogether");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(/\/p\//);
  assert.deepEqual(complaints, []);
});

/** The calls by which a program without a browser signs in. */
function programOf(url: string) {
  const ask = async (path: string, body: unknown) => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(url + path, { method: "POST", body: JSON.stringify(body), headers });
    return { status: answer.status, json: (await answer.json()) as Record<string, string> };
  };
  return {
    begin: async () => (await ask("/v1/auth/device-code", { clientId: "a terminal" })).json,
    poll: ({ deviceCode }: Record<string, string>) => ask("/v1/auth/token", { deviceCode, clientId: "a terminal" }),
  };
}

test("a program is let in only by a member who presses Approve, and turned away by Deny", { skip }, async (t) => {
  const { openAsMember, url } = await startPeople(t);
  const { begin, poll } = programOf(url);
  const first = await begin();
  const { page, complaints } = await openAsMember(toPath(first.verificationUriComplete!), "ada@example.org");
  await page.getByText("Approve only if you started this just now").waitFor();
  await page.getByText("a terminal").waitFor();
  await page.getByText(first.userCode!).waitFor();
  assert.deepEqual(await findBarriers(page), []);
  assert.equal((await poll(first)).json.code, "AuthorizationPending", "looking approves nothing");
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("heading", { name: "The program is let in" }).waitFor();
  assert.equal((await poll(first)).status, 200);

  const second = await begin();
  await page.goto(`${url}/sign-in/device`);
  await page.getByLabel("The code that the program shows").fill("BBBB-BBBB");
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("The code that the program shows").fill(second.userCode!.toLowerCase().replace("-", ""));
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByRole("heading", { name: "The program was turned away" }).waitFor();
  assert.equal((await poll(second)).status, 401);
  assert.deepEqual(complaints, []);
});

test("who opens a program's link signs in first, as a member: a key lets nobody in", { skip }, async (t) => {
  const { openAlone, openAsMember, open, url } = await startPeople(t);
  await openAsMember("/", "ada@example.org");
  const { begin, poll } = programOf(url);
  const waiting = await begin();
  const path = toPath(waiting.verificationUriComplete!);
  const { page, complaints } = await openAlone(path);
  await page.getByRole("heading", { name: "Sign in to let a program in" }).waitFor();
  await page.getByLabel("E-mail").fill("ada@example.org");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Approve" }).waitFor();
  const byKey = await open(path);
  await byKey.page.getByText("You are signed in with an API key.").waitFor();
  assert.equal((await poll(waiting)).json.code, "AuthorizationPending");
  assert.deepEqual([...complaints, ...byKey.complaints], []);
});

test("axe finds nothing on the pages of the sign-in, in both themes, on a desk and on a phone", { skip }, async (t) => {
  const { admin, browser, url } = await startPeople(t);
  const { link } = await admin.call(api.invitations.create, { email: "ada@example.org", role: "user" });
  for (const theme of ["light", "dark"] as const)
    for (const width of [390, 1280]) {
      const { page, complaints, context, settled } = await openPage(browser, { theme, width });
      for (const path of ["/sign-in", "/sign-in/device", "/sign-in/reset#dl_rst_nothing", toPath(link!)]) {
        await page.goto("about:blank");
        await page.goto(url + path);
        await page.getByRole("heading").waitFor();
        await settled();
        assert.deepEqual(await findBarriers(page), [], `${path}, ${theme}, ${width} px`);
      }
      assert.deepEqual(complaints, []);
      await context.close();
    }
});
