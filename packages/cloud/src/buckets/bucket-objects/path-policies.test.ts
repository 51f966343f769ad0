import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, ErrorBody, type IngestPathRule } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { storeBucketSite } from "./testing/store-bucket-site.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const site = () => storeBucketSite(cloud, {});

const imports = (pattern: string, nameTemplate?: string): IngestPathRule => ({
  pattern,
  action: { type: "import", ...(nameTemplate !== undefined && { nameTemplate }) },
});
const ignores = (pattern: string): IngestPathRule => ({ pattern, action: { type: "ignore" } });
const save = (id: string, rules: IngestPathRule[], previousRevision?: number) =>
  admin.call(api.ingestPathPolicies.save, {
    id,
    schemaVersion: 1,
    rules,
    ...(previousRevision !== undefined && { previousRevision }),
  });

const send = (id: string, body: object, method = "PUT") =>
  fetch(`${cloud.url}/v1/sites/${id}/ingest-path-policy`, {
    method,
    headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

test("nothing is saved at first: 404; each policy that differs is a revision, and the same again is none", async () => {
  const { id } = await site();
  await assert.rejects(admin.call(api.ingestPathPolicies.get, { id }), refusedWith("NotFound", id));
  const first = await save(id, [], 0);
  assert.deepEqual([first.revision, first.policy], [1, { schemaVersion: 1, rules: [] }]);
  const second = await save(id, [ignores("tmp/**"), imports("robots/*/**", "robot-{1}")], 1);
  assert.equal(second.revision, 2);
  assert.deepEqual(await admin.call(api.ingestPathPolicies.get, { id }), second);
  assert.deepEqual(await save(id, [ignores("tmp/**"), imports("robots/*/**", "robot-{1}")], 2), second);
  assert.equal(await cloud.deps.db.prisma.ingestPathPolicy.count({ where: { siteId: id } }), 2);
});

test("another previous revision is 409 if the policy differs, and harmless if it is the same", async () => {
  const { id } = await site();
  await assert.rejects(save(id, [], 1), refusedWith("Conflict", "0"));
  const saved = await save(id, [ignores("a")], 0);
  await assert.rejects(save(id, [ignores("b")], 0), refusedWith("Conflict", "1"));
  await assert.rejects(save(id, [ignores("b")], 7), refusedWith("Conflict"));
  for (const previous of [0, 7]) assert.deepEqual(await save(id, [ignores("a")], previous), saved);
  assert.equal((await save(id, [ignores("b")])).revision, 2, "who names none takes whichever is current");
});

test("of many who save at the same moment with the same previous revision, one succeeds", async () => {
  const { id } = await site();
  const all = await Promise.allSettled(Array.from({ length: 8 }, (_, at) => save(id, [ignores(`${at}`)], 0)));
  assert.equal(all.filter(({ status }) => status === "fulfilled").length, 1);
});

test("a policy is of bring-your-own-bucket sites only: 404 elsewhere, and for others", async () => {
  const { id } = await site();
  const others = await Promise.all([
    admin.call(api.sites.create, { name: "hosted", type: "self-hosted" }),
    admin.call(api.sites.create, { name: "edge", type: "edge" }),
  ]);
  const hosted = (await admin.call(api.sites.list, {})).find(({ type }) => type === "service-hosted")!;
  for (const other of [...others, hosted, { id: "site_unknown" }]) {
    await assert.rejects(save(other.id, []), refusedWith("NotFound"));
    await assert.rejects(admin.call(api.ingestPathPolicies.get, { id: other.id }), refusedWith("NotFound"));
  }
  const theirs = await cloud.otherOrganization();
  await assert.rejects(theirs.call(api.ingestPathPolicies.get, { id }), refusedWith("NotFound"));
  await assert.rejects(
    theirs.call(api.ingestPathPolicies.save, { id, schemaVersion: 1, rules: [] }),
    refusedWith("NotFound"),
  );
});

test("PUT, POST and PATCH are the same, and fields of rules that are not known are answered as they were given", async () => {
  const { id } = await site();
  const rule = {
    pattern: "a/**",
    note: { by: "ops", times: [1, null], "": "" },
    action: { type: "import", nameTemplate: "r1", priority: null, labels: ["x"] },
  };
  for (const [at, method] of ["PUT", "POST", "PATCH"].entries()) {
    const response = await send(id, { schemaVersion: 1, rules: [{ ...rule, at }] }, method);
    assert.equal(response.status, 200);
    const answered = (await response.json()) as { revision: number; policy: object };
    assert.deepEqual([answered.revision, answered.policy], [at + 1, { schemaVersion: 1, rules: [{ ...rule, at }] }]);
  }
  const misspelt = await send(id, { schemaVersion: 1, rules: [], previousRevison: 3 });
  assert.match(
    ErrorBody.parse(await misspelt.json()).error,
    /previousRevison is not known; did you mean previousRevision/,
  );
});

test("what is no policy is 400 and says where", async () => {
  const { id } = await site();
  const wrong: [IngestPathRule[], string][] = [
    [[ignores("a"), ignores("b[")], "rules.1.pattern"],
    [[imports("a/*", "{2}")], "rules.0.action.nameTemplate"],
    [[imports("a/*", "{0}")], "rules.0.action.nameTemplate"],
    [[imports("!a/*", "{1}")], "rules.0.action.nameTemplate"],
    [Array.from({ length: 101 }, (_, at) => ignores(`${at}`)), "rules"],
    [[{ pattern: "a", action: { type: "move" as "ignore" } }], "rules.0.action.type"],
  ];
  for (const [rules, path] of wrong) {
    const response = await send(id, { schemaVersion: 1, rules });
    assert.equal(response.status, 400);
    assert.ok(ErrorBody.parse(await response.json()).details?.some((detail) => detail.path === path));
  }
  assert.equal(
    (
      await save(
        id,
        Array.from({ length: 100 }, (_, at) => ignores(`${at}`)),
      )
    ).revision,
    1,
  );
});

test("a constant name is stored as it is, and no device is made", async () => {
  const { id } = await site();
  await save(id, [imports("**", "the-robot")]);
  assert.deepEqual(await admin.call(api.devices.list, {}), []);
});
