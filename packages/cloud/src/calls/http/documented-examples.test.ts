// A client that is generated from the document knows nothing else: each operation is called once by it, with what the document shows.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, documentedApi, LEASE_HEADER, type Operation, plainRoutes } from "@downlink/protocol";
import createClient from "openapi-fetch";
import { z } from "zod";
import { newId } from "../../db/ids.ts";
import { makeZip } from "../../organization/extensions/testing/make-zip.ts";
import { makeOneOfEach } from "../../testing/one-of-each.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { startAgent } from "../../testing/test-agent.ts";

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
const agent = await startAgent(cloud, "agent");
await cloud.deps.blobs.put("stored", new Blob(["stored"]).stream());

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly example?: unknown;
  readonly schema: { readonly example?: unknown };
}

interface Answer {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, unknown>>;
}

interface Documented {
  readonly operationId: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<Record<string, Answer>>;
}

/** The code of the refusal, where a call needs more than the ids and links of what exists here. Each is an answer that the document has. */
const refusals: Readonly<Record<string, string>> = {
  // It needs other states of things.
  "pendingImports.salvage": "Conflict",
  "datasetVersions.commit": "Conflict",
  "episodes.delete": "Conflict",
  "members.delete": "Conflict",
  "recordings.cancelImport": "Conflict",
  "devices.delete": "DeviceNotEmpty",
  "imports.delete": "NotFound",
  "pendingImports.download": "NotFound",
  "lakeFiles.list": "InvalidRequest",
  // It needs the id of something that is not made here.
  "devices.getPropertyInterval": "NotFound",
  "webhooks.retryDelivery": "NotFound",
  "site.selection": "LinkExpired",
  ...refused("edge", "NotFound", ["openUpload", "grantParts", "grantPieces", "composePart", "completeUpload"]),
  ...refused("edge", "NotFound", ["failImport", "failSalvage"]),
  ...refused("dataPlane", "InvalidLink", ["uploadPart", "uploadPiece", "importFile"]),
  // It needs a real bucket, and the process of a self-hosted site.
  "ingestPathPolicies.tryOut": "NotFound",
  "bucketNotifications.create": "Conflict",
  "bucketNotifications.receive": "Unauthenticated",
  ...refused("siteUploads", "NotFound", ["open", "grantParts", "grantPieces", "composePart", "complete"]),
  // It needs the browser of a member, or a provider.
  "me.changePassword": "WrongCredentialKind",
  "me.endSession": "NotFound",
  "auth.token": "AuthorizationPending",
  "auth.signIn": "Unauthenticated",
  ...refused("session", "Unauthenticated", ["lookUpDeviceCode", "decideDeviceCode"]),
  ...refused("session", "SignInRefused", ["beginAtProvider", "finishAtProvider"]),
};

function refused(tag: string, code: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`${tag}.${name}`, code]));
}

const { paths, components } = (await (await fetch(`${cloud.url}/v1/openapi.json`)).json()) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Answer>> };
};
const client = createClient<Record<string, Record<string, object>>>({ baseUrl: cloud.url });

/** The credential for each security scheme. */
const tokens: Readonly<Record<string, string | undefined>> = {
  ...{ apiKey: cloud.adminKey, person: cloud.adminKey, agentToken: agent.token },
  siteToken: (await admin.call(api.siteTokens.create, { siteId: made.sites! })).token,
  inboxToken: (await admin.call(api.inboxTokens.create, { siteId: bucket.id })).token,
  enrolmentToken: (await admin.call(api.deviceTokens.create, { projectId: made.projects })).token,
};
/** The ids that exist, by their prefix. */
const existing = new Map([...Object.values(made), view.id].map((id) => [id.slice(0, id.indexOf("_")), id]));
/** Ids of other things, for some operations. */
const ofOperation: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "agentSettings.putOfSite": { site: edgeSite.id },
  "ingestPathPolicies.get": { site: bucket.id },
  "ingestPathPolicies.save": { site: bucket.id },
};
/** The answers so far, by the operation, and the links in them. */
const answers = new Map<string, Readonly<Record<string, unknown>>>();
const links: URL[] = [];
const tokenOf = (called: string) => ({ token: String(answers.get(called)?.link).split("#")[1] });
const password = "correct horse battery";
/** Bodies with secrets, which no example has, and bytes. */
const bodies: Readonly<Record<string, () => unknown>> = {
  "session.begin": () => ({ apiKey: cloud.adminKey }),
  "session.lookAtInvitation": () => tokenOf("invitations.create"),
  "session.accept": () => ({ ...tokenOf("invitations.create"), password }),
  "session.lookAtReset": () => tokenOf("members.resetPassword"),
  "session.resetPassword": () => ({ ...tokenOf("members.resetPassword"), password }),
  "auth.token": () => ({ clientId: "text", deviceCode: answers.get("auth.askDeviceCode")?.deviceCode }),
  "extensions.publish": () => new Uint8Array(makeZip([{ name: "package.json", content: manifest }])),
};
const manifest = JSON.stringify({ name: "x", publisher: "acme", version: "1", displayName: "X" });
/** Headers of HTTP itself, and those that only browsers read. */
const unnamed = [
  ...["access-control-allow-origin", "access-control-expose-headers", "cache-control", "connection"],
  ...["content-encoding", "content-length", "content-security-policy", "content-type", "date", "keep-alive"],
  ...["referrer-policy", "transfer-encoding", "vary", "x-content-type-options"],
];
/** The schemas of the answers. */
const schemas = new Map<string, unknown>([
  ...Object.entries(documentedApi).flatMap(([resource, contract]) =>
    Object.entries<Operation>(contract).map(([name, { response }]) => [`${resource}.${name}`, response] as const),
  ),
  ...plainRoutes.map(({ called, answers }) => [called, answers[200]?.content] as const),
]);

interface Call extends Documented {
  readonly path: string;
  readonly method: string;
}

const calls = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, documented]): Call => ({ path, method, ...documented })),
);
/** Everything is made before it is found, and is deleted last, in the reverse order. */
const order = ["post", "put", "patch", "get"];
const inOrder = [
  ...order.flatMap((method) => calls.filter((call) => call.method === method)),
  ...calls.filter(({ method }) => method === "delete").toReversed(),
];

for (const call of inOrder)
  test(`${call.operationId} answers a client that is generated from the document as that says`, async () => {
    await prisma.recording.updateMany({ data: { sessionId: null } }); // the example of another operation puts it into a session
    const { response, text } = await send(call);
    const answer = call.responses[response.status] ?? assert.fail(`${response.status} is not documented: ${text}`);
    const { content = {}, headers = {} } = answer.$ref ? components.responses[answer.$ref.split("/").at(-1)!]! : answer;
    checkMediaType(response, Object.keys(content));
    const names = [...unnamed, ...Object.keys(headers).map((name) => name.toLowerCase())];
    assert.deepEqual(
      [...response.headers.keys()].filter((name) => !names.includes(name)),
      [],
    );
    assert.equal(response.headers.get("x-downlink-ignored"), null);
    const schema = schemas.get(call.operationId);
    if (response.status === 200 && schema instanceof z.ZodType)
      assert.equal(schema.safeParse(JSON.parse(text)).error, undefined);
    assert.equal(
      response.ok || response.status === 302 ? undefined : JSON.parse(text).code,
      refusals[call.operationId],
      text,
    );
  });

/** Sends what the document shows, with the ids and links of things that exist. */
async function send({ operationId, path, method, parameters, requestBody, security }: Call) {
  const link = links.findLast(({ pathname }) => templateOf(path).test(pathname));
  const parts = link && templateOf(path).exec(link.pathname)!.groups;
  const shown = (place: Parameter["in"], own: Readonly<Record<string, string | undefined>> = {}) =>
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === place && parameter.required)
        .map(({ name, example, schema }) => [
          name,
          own[name] ?? withExisting(String(example ?? schema.example), operationId),
        ]),
    );
  const [mediaType = "application/json", { example = "" } = {}] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const body = bodies[operationId]?.() ?? JSON.parse(withExisting(JSON.stringify(example), operationId));
  const token = tokens[Object.keys(security[0] ?? {})[0] ?? ""];
  const given = {
    params: {
      path: shown("path", parts),
      query: shown("query", link && Object.fromEntries(link.searchParams)),
      header: shown("header", { [LEASE_HEADER]: leaseOf(operationId) }),
    },
    ...(requestBody && { body }),
    ...(mediaType !== "application/json" && { bodySerializer: (bytes: unknown) => bytes }),
    headers: { origin: cloud.url, "content-type": mediaType, ...(token && { authorization: `Bearer ${token}` }) },
    ...{ redirect: "manual", parseAs: "text" },
  };
  const { response, data, error } = await client.request(method as "get", path as never, given as never);
  const text = typeof data === "string" ? data : JSON.stringify(error ?? "");
  if (/^{/.test(text)) answers.set(operationId, JSON.parse(text) as Readonly<Record<string, unknown>>);
  if (operationId === "extensions.publish") existing.set("ext", String(answers.get(operationId)?.id));
  const found = [
    response.headers.get("location") ?? "",
    ...[...text.matchAll(/"(https?:[^"]*)"/g)].map(([, url]) => url!),
  ];
  links.push(...found.filter((url) => url.startsWith(`${cloud.url}/data-plane/`)).map((url) => new URL(url)));
  return { response, text };
}

function leaseOf(operationId: string): string {
  return String(answers.get(`${operationId.split(".")[0]}.hello`)?.lease);
}

function checkMediaType(response: Response, documented: readonly string[]): void {
  const mediaType = response.headers.get("content-type")?.split(";")[0];
  if (documented.length === 0) assert.equal(response.headers.get("content-length") ?? "0", "0");
  else assert.ok(documented.includes(mediaType!) || documented.includes("*/*"), mediaType);
}

function templateOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{(\w+)\}/g, "(?<$1>.+)")}$`);
}

function withExisting(text: string, called: string): string {
  const ids = new Map([...existing, ...Object.entries(ofOperation[called] ?? {})]);
  return text
    .replace(/\b([a-z]+)_01k7x9d3q8w5f2m6n4p0r1s7t9/g, (example, prefix: string) => ids.get(prefix) ?? example)
    .replace("6f1ad4f4-7d0f-4b34-9d56-3a5b2f0f6c11", made.layouts!);
}
