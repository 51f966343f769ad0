// A client that is generated from the document knows nothing else: each operation is called once by it, with what the document shows.

import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, test } from "node:test";
import { api, documentedApi, formatTimestamp, LEASE_HEADER, type Operation, plainRoutes } from "@downlink/protocol";
import createClient from "openapi-fetch";
import { z } from "zod";
import { newId } from "../../db/ids.ts";
import { makeZip } from "../../organization/extensions/testing/make-zip.ts";
import { makeOneOfEach } from "../../testing/one-of-each.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { askForFile } from "../../testing/test-agent.ts";
import { refusals } from "./testing/refused-examples.ts";

const cloud = await startCloud(
  { after },
  { works: false, environment: { DOWNLINK_SECURITY_CONTACT: "mailto:security@example.org" } },
);
const made = await makeOneOfEach(cloud, { client: cloud.admin, name: "shown" });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const color = { key: "color", label: "Colour", valueType: "string", resourceType: "device" } as const;
await admin.call(api.customProperties.create, color);
await prisma.recording.updateMany({ data: { blobKey: "stored", importStatus: "complete" } });
await prisma.trainingFile.updateMany({ data: { blobKey: "stored" } });
const slice = { offset: 0, sizeBytes: 6 };
const pictures = { topic: "/camera", width: 1, height: 1, timesNs: ["1"], strip: slice, single: slice };
const thumbnails = { blobKey: "stored", topics: [pictures], madeAtNs: 1n };
for (const { id: recordingId } of await prisma.recording.findMany())
  await prisma.recordingThumbnails.create({ data: { recordingId, ...thumbnails } });
await prisma.edgeFile.updateMany({ data: { state: "incomplete", salvageStartNs: 1n, salvageEndNs: 2n } });
const view = await admin.call(api.savedViews.create, { name: "mine", path: "/devices", query: "" });
const edgeSite = await admin.call(api.sites.create, { name: "edge", type: "edge" });
const { orgId } = await admin.call(api.me.get, {});
const bucket = { id: newId("site"), orgId, name: "bucket", type: "byob", createdAtNs: 1n } as const;
await prisma.site.create({ data: bucket });
const asked = await askForFile(cloud, "agent");
const { versionId, size, modifiedAt } = asked.item;
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

const { paths, components } = (await (await fetch(`${cloud.url}/v1/openapi.json`)).json()) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Answer>> };
};
const client = createClient<Record<string, Record<string, object>>>({ baseUrl: cloud.url });

/** The credential for each security scheme. */
const tokens: Readonly<Record<string, string | undefined>> = {
  ...{ apiKey: cloud.adminKey, person: cloud.adminKey, agentToken: asked.agent.token },
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
/** The answers so far by the operation, the links in them, and the cookies of sessions. */
const answers = new Map<string, Readonly<Record<string, unknown>>>();
const [links, cookies]: [URL[], string[]] = [[], []];
const tokenOf = (called: string) => ({ token: String(answers.get(called)?.link).split("#")[1] });
const password = "correct horse battery";
const askedCode = () => answers.get("auth.askDeviceCode") as { readonly deviceCode: string; readonly userCode: string };
/** Queries with secrets. */
const queries: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  "session.lookUpDeviceCode": () => ({ userCode: askedCode().userCode }),
};
/** Bodies with secrets, which no example has, and bytes. */
const bodies: Readonly<Record<string, () => unknown>> = {
  "session.begin": () => ({ apiKey: cloud.adminKey }),
  "session.lookAtInvitation": () => tokenOf("invitations.create"),
  "session.accept": () => ({ ...tokenOf("invitations.create"), password }),
  "session.lookAtReset": () => tokenOf("members.resetPassword"),
  "session.resetPassword": () => ({ ...tokenOf("members.resetPassword"), password }),
  "auth.token": () => ({ clientId: "text", deviceCode: askedCode().deviceCode }),
  "auth.signIn": () => answers.get("auth.token"),
  "session.decideDeviceCode": () => ({ userCode: askedCode().userCode, approve: true }),
  "edge.openUpload": () => ({ versionId, size, modifiedAt: formatTimestamp(modifiedAt) }),
  "edge.grantParts": () => ({ parts: [{ number: 1, length: bytes.length, md5: hash("md5", bytes, "base64") }] }),
  "dataPlane.uploadPart": () => bytes,
  "edge.completeUpload": () => ({ parts: [], sha256: hash("sha256", bytes) }),
  "extensions.publish": () => new Uint8Array(makeZip([{ name: "package.json", content: manifest }])),
};
const bytes = new Uint8Array(size);
const manifest = JSON.stringify({ name: "x", publisher: "acme", version: "1", displayName: "X" });
/** Headers of HTTP itself, and those that only browsers read. */
const unnamed = [
  ...["access-control-allow-origin", "access-control-expose-headers", "cache-control", "connection"],
  ...["content-encoding", "content-length", "content-security-policy", "content-type", "date", "keep-alive"],
  ...["referrer-policy", "transfer-encoding", "vary", "x-accel-buffering", "x-content-type-options"],
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
/** Each of these uses answers of those before it; the link of an export ends after 15 seconds. */
const first = [
  ...["auth.askDeviceCode", "invitations.create", "session.lookAtInvitation", "session.accept"],
  ...["session.lookUpDeviceCode", "session.decideDeviceCode", "auth.token", "auth.signIn"],
  ...["edge.hello", "edge.openUpload", "edge.grantParts", "dataPlane.uploadPart", "edge.completeUpload"],
  ...["exports.create", "dataPlane.export"],
];
/** Everything is made before it is found, and is deleted last, in the reverse order. */
const order = ["post", "put", "patch", "get"];
const inOrder = [
  ...first.map((operationId) => calls.find((call) => call.operationId === operationId)!),
  ...order.flatMap((method) => calls.filter((call) => call.method === method)),
  ...calls.filter(({ method }) => method === "delete").toReversed(),
].filter((call, index, all) => all.indexOf(call) === index);

for (const call of inOrder)
  test(`${call.operationId} answers a client that is generated from the document as that says`, async () => {
    await prisma.recording.updateMany({ data: { sessionId: null } }); // the example of another operation puts it into a session
    const { response, text } = await send(call);
    checkAnswer(call, response);
    assert.equal(response.headers.get("x-downlink-ignored"), null);
    const schema = schemas.get(call.operationId);
    if (response.status === 200 && schema instanceof z.ZodType)
      assert.equal(schema.safeParse(JSON.parse(text)).error, undefined);
    const isDone = response.ok || response.status === 302;
    assert.equal(isDone ? undefined : JSON.parse(text).code, refusals[call.operationId], text);
  });

const special: readonly [what: string, operationId: string, sent: Special, status: number, header: string][] = [
  ["a page of a list", "devices.list", { query: { limit: 1 } }, 200, "link"],
  ["an answer that the caller has", "devices.list", { headers: { "if-none-match": "*" } }, 304, "etag"],
  ["a name that nothing reads", "devices.list", { query: { nothing: "x" } }, 200, "x-downlink-ignored"],
  ["a stream of events", "changes.list", { headers: { accept: "text/event-stream" } }, 200, "x-request-id"],
  ["a key of idempotency", "layouts.create", { headers: { "idempotency-key": "one" } }, 200, "x-request-id"],
  ["a repeat", "layouts.create", { headers: { "idempotency-key": "one" } }, 200, "idempotent-replayed"],
  ["a range", "dataPlane.attachment", { headers: { range: "bytes=0-0" } }, 416, "content-range"],
];
for (const [what, operationId, sent, status, header] of special)
  test(`${what} is answered as the document says: ${operationId}`, async () => {
    const call = calls.find((one) => one.operationId === operationId)!;
    const { response } = await send(call, sent);
    assert.equal(response.status, status);
    assert.ok(response.headers.has(header), header);
    checkAnswer(call, response);
  });

/** Checks that the document has the status, the headers and the media type of an answer. */
function checkAnswer({ responses }: Call, response: Response): void {
  const answer = responses[response.status] ?? assert.fail(`${response.status} is not documented`);
  const { content = {}, headers = {} } = answer.$ref ? components.responses[answer.$ref.split("/").at(-1)!]! : answer;
  const names = [...unnamed, ...Object.keys(headers).map((name) => name.toLowerCase())];
  const others = [...response.headers.keys()].filter((name) => !names.includes(name));
  assert.deepEqual(others, []);
  checkMediaType(response, Object.keys(content));
}

/** The headers and the query that are sent besides those that the document shows. */
interface Special {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
}

/** Sends what the document shows, with the ids and links of things that exist. */
async function send(call: Call, more: Special = {}) {
  const isStream = more.headers?.accept === "text/event-stream"; // such an answer never ends
  const given = { ...inputOf(call, more), redirect: "manual", parseAs: isStream ? "stream" : "text" };
  const { response, data, error } = await client.request(call.method as "get", call.path as never, given as never);
  if (isStream) await (data as unknown as ReadableStream).cancel();
  const text = typeof data === "string" ? data : JSON.stringify(error ?? "");
  note(call, response, text);
  return { response, text };
}

function inputOf({ operationId, path, parameters, requestBody, security }: Call, { headers, query }: Special) {
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
  return {
    params: {
      path: shown("path", parts),
      query: {
        ...shown("query", queries[operationId]?.() ?? (link && Object.fromEntries(link.searchParams))),
        ...query,
      },
      header: shown("header", { [LEASE_HEADER]: leaseOf(operationId) }),
    },
    pathSerializer: fillPath,
    ...(requestBody && { body }),
    ...(mediaType !== "application/json" && { bodySerializer: (bytes: unknown) => bytes }),
    headers: {
      ...{ origin: cloud.url, "content-type": mediaType, ...headers },
      ...(operationId.startsWith("session.") && { cookie: cookies.at(-1) ?? "" }),
      ...(token && { authorization: `Bearer ${token}` }),
    },
  };
}

/** Keeps what later calls need of an answer. */
function note({ operationId }: Call, response: Response, text: string): void {
  if (/^{/.test(text)) answers.set(operationId, JSON.parse(text) as Readonly<Record<string, unknown>>);
  if (operationId === "extensions.publish") existing.set("ext", String(answers.get(operationId)?.id));
  if (operationId === "session.accept") cookies.push(response.headers.get("set-cookie")!.split(";")[0]!);
  const urls = [...text.matchAll(/"(https?:[^"]*)"/g)].map(([, url]) => url!);
  const found = [response.headers.get("location") ?? "", ...urls];
  links.push(...found.filter((url) => url.startsWith(`${cloud.url}/data-plane/`)).map((url) => new URL(url)));
}

/** The key in the path of a part has slashes, which stay. */
function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  const encode = (value: string) => encodeURIComponent(value).replaceAll("%2F", "/");
  return Object.entries(values).reduce((text, [name, value]) => text.replace(`{${name}}`, encode(value)), path);
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
  const ofEdge = { req: asked.requestId, upl: String(answers.get("edge.openUpload")?.uploadId) };
  const own = called.startsWith("edge.") ? ofEdge : (ofOperation[called] ?? {});
  const ids = new Map([...existing, ...Object.entries(own)]);
  return text
    .replace(/\b([a-z]+)_01k7x9d3q8w5f2m6n4p0r1s7t9/g, (example, prefix: string) => ids.get(prefix) ?? example)
    .replace("6f1ad4f4-7d0f-4b34-9d56-3a5b2f0f6c11", made.layouts!);
}
