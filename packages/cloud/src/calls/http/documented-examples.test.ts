import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type Operation } from "@downlink/protocol";
import { newId } from "../../db/ids.ts";
import { makeOneOfEach } from "../../testing/one-of-each.ts";
import { sendRequest } from "../../testing/send-request.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const made = await makeOneOfEach(cloud, { client: cloud.admin, name: "shown" });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const color = { key: "color", label: "Colour", valueType: "string", resourceType: "device" } as const;
await admin.call(api.customProperties.create, color);
await prisma.recording.updateMany({ data: { blobKey: "stored", importStatus: "complete" } });
await prisma.edgeFile.updateMany({ data: { state: "incomplete", salvageStartNs: 1n, salvageEndNs: 2n } });
const view = await admin.call(api.savedViews.create, { name: "mine", path: "/devices", query: "" });
const edgeSite = await admin.call(api.sites.create, { name: "edge", type: "edge" });
const { orgId } = await admin.call(api.me.get, {});
const bucket = { id: newId("site"), orgId, name: "bucket", type: "byob", createdAtNs: 1n } as const;
await prisma.site.create({ data: bucket });
const { paths } = (await (await fetch(`${cloud.url}/v1/openapi.json`)).json()) as {
  paths: Record<string, Record<string, Documented>>;
};

interface Documented {
  readonly parameters: { readonly name: string; readonly in: string; readonly example?: string }[];
  readonly requestBody?: { readonly content: Record<string, { readonly example: unknown }> };
}

/** The ids that exist, by their prefix. */
const existing = new Map([...Object.values(made), view.id].map((id) => [id.slice(0, id.indexOf("_")), id]));
/** Operations on a site of one kind, and such a site. */
const ofSites: Readonly<Record<string, string>> = {
  "agentSettings.putOfSite": edgeSite.id,
  "ingestPathPolicies.save": bucket.id,
};
const withBody = Object.entries(api)
  .flatMap(([resource, contract]) =>
    Object.entries(contract as Record<string, Operation>).map(
      ([name, operation]) => [`${resource}.${name}`, operation] as const,
    ),
  )
  // Left out are operations that only a person may call, which are about signing in, and trying out a policy, which needs a real bucket.
  .filter(([called, { body, access }]) => body && access.kind === "apiKey" && called !== "ingestPathPolicies.tryOut");

for (const [called, { path, method }] of withBody)
  test(`${called}: the documented body can be sent as it is, with ids of things that exist`, async () => {
    await prisma.recording.updateMany({ data: { sessionId: null } }); // the example of another operation puts it into a session
    const { parameters, requestBody } = paths[path]![method]!;
    const shown = parameters.filter((parameter) => parameter.in === "path");
    const target = shown.reduce((text, { name, example }) => text.replace(`{${name}}`, example!), path);
    const { status, text } = await sendRequest(cloud.url + withExisting(target, ofSites[called]), {
      method: method.toUpperCase(),
      headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
      body: withExisting(JSON.stringify(requestBody!.content["application/json"]!.example)),
    });
    assert.ok(status >= 200 && status < 300, `${status} ${text}`);
  });

function withExisting(text: string, siteId?: string): string {
  return text
    .replace(/\b([a-z]+)_01k7x9d3q8w5f2m6n4p0r1s7t9/g, (example, prefix: string) =>
      prefix === "site" && siteId ? siteId : (existing.get(prefix) ?? example),
    )
    .replace("/layouts/6f1ad4f4-7d0f-4b34-9d56-3a5b2f0f6c11", `/layouts/${made.layouts}`);
}
