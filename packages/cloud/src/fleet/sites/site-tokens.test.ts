import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { newId } from "../../db/ids.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { helloBody } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const edge = await admin.call(api.sites.create, { name: "edge", type: "edge" });
const hosted = await admin.call(api.sites.create, { name: "hosted", type: "self-hosted" });
const primary = (await admin.call(api.sites.list, {})).find(({ type }) => type === "service-hosted")!;
const { orgId } = await cloud.deps.db.prisma.site.findUniqueOrThrow({ where: { id: edge.id } });
const byob = { id: newId("site"), orgId, name: "bucket", type: "byob", createdAtNs: 0n } as const;
await cloud.deps.db.prisma.site.create({ data: byob });

const kinds = [
  { name: "a site token", contract: api.siteTokens, text: /^dl_st_[0-9A-Za-z]{47}$/, of: [hosted, edge], not: byob },
  {
    name: "an inbox token",
    contract: api.inboxTokens,
    text: /^dl_snt_[0-9A-Za-z]{47}$/,
    of: [hosted, byob],
    not: edge,
  },
] as const;

for (const { name, contract, text, of, not } of kinds) {
  test(`${name} is shown once, and only its hash is stored`, async () => {
    const { token, ...row } = await admin.call(contract.create, { siteId: of[0].id });
    assert.match(token!, text);
    assert.deepEqual(await admin.call(contract.list, {}), [row]);
    for (const table of ["SiteToken", "InboxToken"]) {
      const stored = await cloud.deps.db.pool.query(`SELECT * FROM "${table}"`);
      assert.ok(!JSON.stringify(stored.rows).includes(token!));
    }
  });

  test(`${name} is only for the kinds of site that use it, else 400; an unknown site is 404`, async () => {
    for (const site of of) assert.equal((await admin.call(contract.create, { siteId: site.id })).siteId, site.id);
    for (const { id } of [not, primary])
      await assert.rejects(admin.call(contract.create, { siteId: id }), refusedWith("InvalidRequest"));
    for (const siteId of ["site_unknown", edge.id.toUpperCase()])
      await assert.rejects(admin.call(contract.create, { siteId }), refusedWith("NotFound"));
  });

  test(`${name} is known, and calls that need another kind refuse it with 403; only an edge site has an agent`, async () => {
    const { token } = await admin.call(contract.create, { siteId: hosted.id });
    const client = cloud.withToken(token!);
    await assert.rejects(client.call(api.sites.list, {}), refusedWith("WrongCredentialKind"));
    await assert.rejects(client.call(api.edge.hello, helloBody()), refusedWith("WrongCredentialKind"));
  });

  test(`${name} is listed in the order of creation, by site and in pages, and not to others`, async () => {
    const all = await admin.call(contract.list, {});
    assert.ok(all.length > 2 && all.every((row) => row.token === undefined));
    const times = all.map(({ createdAt, id }) => `${createdAt} ${id}`);
    assert.deepEqual(times, [...times].sort());
    const siteId = of[1].id;
    assert.deepEqual(
      await admin.call(contract.list, { siteId }),
      all.filter((row) => row.siteId === siteId),
    );
    await assert.rejects(admin.call(contract.list, { siteId: "site_unknown" }), refusedWith("NotFound"));
    assert.deepEqual(await admin.call(contract.list, { limit: 2, offset: 1 }), all.slice(1, 3));
    const other = await cloud.otherOrganization();
    assert.deepEqual(await other.call(contract.list, {}), []);
    await assert.rejects(other.call(contract.list, { siteId }), refusedWith("NotFound"));
    await assert.rejects(other.call(contract.create, { siteId }), refusedWith("NotFound"));
    await assert.rejects(other.call(contract.delete, { id: all[0]!.id }), refusedWith("NotFound"));
  });
}

test("a deleted token is refused with 401 from then on", async () => {
  const site = await admin.call(api.siteTokens.create, { siteId: edge.id });
  const inbox = await admin.call(api.inboxTokens.create, { siteId: hosted.id });
  assert.equal(inbox.orgId, orgId);
  assert.deepEqual(await admin.call(api.siteTokens.delete, { id: site.id }), { success: true });
  assert.deepEqual(await admin.call(api.inboxTokens.delete, { id: inbox.id }), { id: inbox.id });
  for (const { token } of [site, inbox])
    await assert.rejects(cloud.withToken(token!).call(api.sites.list, {}), refusedWith("Unauthenticated"));
  await assert.rejects(admin.call(api.siteTokens.delete, { id: site.id }), refusedWith("NotFound"));
  await assert.rejects(admin.call(api.inboxTokens.delete, { id: inbox.id }), refusedWith("NotFound"));
});
