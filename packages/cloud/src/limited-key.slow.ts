import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type Operation, type Reach } from "@downlink/protocol";
import { newId } from "./db/ids.ts";
import { readExamples } from "./testing/example-bodies.ts";
import { makeOneOfEach } from "./testing/one-of-each.ts";
import { idsOf, type Row, readAllRows, rowsOfProject } from "./testing/rows-of-project.ts";
import { startCloud } from "./testing/start-cloud.ts";
import { brokenItem, recordingItem, sayHello } from "./testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const exampleOf = await readExamples(cloud.url);

/** Makes a project with one of everything; the names of its resources begin with this name and a hyphen. */
async function makeSide(name: string) {
  const { id: projectId } = await admin.call(api.projects.create, { name: `${name}-project` });
  const ids = await makeOneOfEach(cloud, { client: admin, name, projectId });
  return { name, projectId, ids, importedId: await storeImported(ids.recordings!, name) };
}

/** Stores another recording of the same device, as an upload leaves it. */
async function storeImported(recordingId: string, name: string): Promise<string> {
  const { prisma } = cloud.deps.db;
  const { orgId, projectId, deviceId } = await prisma.recording.findUniqueOrThrow({ where: { id: recordingId } });
  const of = { orgId, projectId, deviceId, key: `${name}-imported`, path: `${name}-imported.mcap` };
  const file = {
    format: "mcap" as const,
    sizeBytes: 1n,
    startNs: 1n,
    endNs: 2n,
    durationNs: 1n,
    messageCount: 1n,
    metadata: [],
  };
  const stored = { isEdge: false, importStatus: "complete", blobKey: `${orgId}/${name}-blob` } as const;
  const data = { id: newId("rec"), ...of, ...file, ...stored, createdAtNs: 1n };
  return (await prisma.recording.create({ data })).id;
}
type Side = Awaited<ReturnType<typeof makeSide>>;

const [inside, outside] = [await makeSide("inside"), await makeSide("outside")];
await makeSharedSite();
/** The ids of resources that belong to no project, by the path segment before them. */
const unowned: Readonly<Record<string, string>> = {
  "pending-imports": await makeRequestOfNoProject(),
  "edge-files": (await admin.call(api.edgeFiles.list, { state: ["unassigned"] }))[0]!.id,
};
const capabilities = ["*" as const];
const { token: limitedKey } = await admin.call(api.apiKeys.create, {
  name: "limited",
  capabilities,
  projectIds: [inside.projectId],
});
const outsideIds = idsOf(rowsOfProject(await readAllRows(cloud.deps.db), outside.projectId));
/** Texts that reveal something of the other project. */
const secrets = ["outside-", ...outsideIds, ...Object.values(unowned)];

/** Starts an agent of all projects: it reports files of the other project, and one that has no owner. */
async function makeSharedSite() {
  const site = await admin.call(api.sites.create, { name: "for all", type: "edge" });
  const { token } = await admin.call(api.siteTokens.create, { siteId: site.id });
  const agent = await sayHello(cloud, { deviceId: "", token: token! });
  const device = { id: outside.ids.devices! };
  await agent.report([
    recordingItem({ path: "outside-at-site.mcap", device }),
    brokenItem({ path: "outside-broken-at-site.mcap", device }),
    recordingItem({ path: "outside-nowhere.mcap" }),
  ]);
  const problems = [{ code: "Damaged", text: "outside-broken-at-site.mcap is damaged", since: 0n }];
  await agent.call(api.edge.status, { files: { damaged: 1 }, problems });
}

/** Makes a request like an upload whose file should name the project and does not. */
async function makeRequestOfNoProject(): Promise<string> {
  const { prisma } = cloud.deps.db;
  const { id: _, ...upload } = await prisma.importRequest.findUniqueOrThrow({
    where: { id: outside.ids["pending-imports"]! },
  });
  const own = { id: newId("req"), projectId: null, deviceId: null, deviceName: null, filename: "outside-orphan.mcap" };
  return (await prisma.importRequest.create({ data: { ...upload, ...own, requestedBy: undefined } })).id;
}

/** Values that refer to resources of a side, by the name of the field: one or several for each field. */
function referencesTo({ name, projectId, ids, importedId }: Side): Readonly<Record<string, readonly unknown[]>> {
  const { devices, sessions, recordings, events, episodes, imports, sites } = ids;
  return {
    projectId: [projectId],
    projectIds: [[projectId]],
    ...{ deviceId: [devices], deviceIds: [[devices]] },
    deviceName: [`${name}-robot`],
    sessionId: [sessions],
    sessionKey: [`${name}-drive`],
    recordingId: [recordings, importedId],
    recordingKey: [`${name}-key`, `${name}-imported`],
    ...{ recordingIds: [[recordings]], addRecordingIds: [[recordings]], removeRecordingIds: [[recordings]] },
    recordings: [[recordings]],
    eventId: [events],
    eventTypeId: [ids["event-types"]],
    importId: [imports],
    ...{ datasetId: [ids.datasets], mappingId: [ids.mappings] },
    requestId: [ids["pending-imports"]],
    episodeId: [episodes],
    ...{ episodeIds: [[episodes]], add: [[episodes]], remove: [[episodes]] },
    episodes: [[{ recordings: [recordings] }], [{ eventId: events }]],
    ...{ siteId: [sites], edgeSiteId: [sites], primarySiteId: [sites] },
    id: [[imports]],
    filter: [{ deviceId: devices }, { deviceName: `${name}-robot` }, { projectId }, { sessionId: sessions }],
    key: [`${name}-key`, `${name}-drive`],
    name: [`${name}-robot`, `${name}-dataset`],
    path: [`${name}-run.mcap`],
    filename: [`${name}-upload`],
    query: [`whose:${name}-event`],
    metadataQuery: [`whose:${name}-event`, `whose:${name}-episode`],
    ...{ keyMatches: [name], filenameMatches: [name] },
  };
}

const references = { inside: referencesTo(inside), outside: referencesTo(outside) };
/** Required parameters of a query that refer to nothing. */
const plainQuery: Readonly<Record<string, string>> = {
  ...{ start: "1970-01-01", end: "2200-01-01", version: "1" },
  binNs: String(Number.MAX_SAFE_INTEGER),
};

interface Call {
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Makes calls of the operation in the own project, with the other project's resources in the place of each reference, and with the own
 * ones.
 */
function callsOf(operation: Operation): Call[] {
  const bare = bareCall(operation);
  const fields = Object.entries(bare.body ? completeBody(operation) : {});
  const inOwn = [bare, ...fields.map(([name, value]) => ({ ...bare, body: { ...bare.body, [name]: value } }))];
  const paths = operation.path.includes("{") ? pathsOf(operation.path, outside) : [];
  const inOther = paths.flatMap((path) => inOwn.map((call) => ({ ...call, path })));
  const variants = [references.outside, references.inside].flatMap((side) => variantsOf(operation, bare, side));
  return [...inOwn, ...inOther, ...variants];
}

function bareCall(operation: Operation): Call {
  const [path] = pathsOf(operation.path, inside);
  return { path: path!, query: requiredQuery(operation), body: requiredBody(operation) };
}

/** Makes the call with one more reference, or with one in the place of another. */
function variantsOf(operation: Operation, bare: Call, side: typeof references.inside): Call[] {
  return Object.entries(side).flatMap(([field, values]) =>
    values.flatMap((value) => withField(operation, bare, { field, value })),
  );
}

function withField(
  { query, body }: Operation,
  bare: Call,
  { field, value }: { field: string; value: unknown },
): Call[] {
  const inQuery = query && field in query.shape ? [{ ...bare, query: { ...bare.query, [field]: value } }] : [];
  const inBody = body && field in body.shape ? [{ ...bare, body: { ...bare.body, [field]: value } }] : [];
  return [...inQuery, ...inBody];
}

/**
 * Fills a path with the ids of the side's resources, with the name or key of the first one if it has one, and outside also with resources of no
 * project. A resource within another is that of the side, also in one of the own project.
 */
function pathsOf(path: string, { name, ids, importedId }: Side): string[] {
  const kind = /\/([a-z-]+)\/\{/.exec(path)?.[1];
  if (kind === undefined) return [path];
  const id = ids[kind] ?? assert.fail(`the test makes no ${kind}`);
  const names = { devices: "robot", recordings: "key", sessions: "drive" } as Record<string, string>;
  const named = kind in names ? [`${name}-${names[kind]}`] : [];
  const imported = kind === "recordings" ? [importedId] : [];
  const ofNobody = name === "outside" && kind in unowned ? [unowned[kind]!] : [];
  const own = name === "outside" && isNested(path) ? [inside.ids[kind]!] : [];
  return [id, ...named, ...imported, ...ofNobody, ...own].map((value) =>
    path
      .replace("{versionNumber}", "1")
      .replace(/\{\w+\}/, value)
      .replaceAll(/\/([a-z-]+)\/\{\w+\}/g, (_, inner: string) => `/${inner}/${ids[inner] ?? value}`),
  );
}

function isNested(path: string): boolean {
  return (path.replace("{versionNumber}", "1").match(/\{/g) ?? []).length > 1;
}

function requiredQuery({ query }: Operation): Call["query"] {
  const required = Object.entries(query?.shape ?? {}).filter(([, field]) => !field.safeParse(undefined).success);
  return Object.fromEntries(required.map(([name]) => [name, plainQuery[name] ?? references.inside[name]![0]]));
}

/** Returns the documented body, about the own project. */
const completeBody = (operation: Operation) => aboutInside(exampleOf(operation)) as Record<string, unknown>;

/** Returns the body with nothing but its required fields. */
function requiredBody(operation: Operation): Call["body"] {
  if (!operation.body) return undefined;
  const body = completeBody(operation);
  for (const name of Object.keys(body)) {
    const { [name]: _, ...others } = body;
    if (operation.body.safeParse(others).success) delete body[name];
  }
  return body;
}

function aboutInside(value: unknown, name = ""): unknown {
  const own = references.inside[name]?.[0];
  if (own !== undefined && Array.isArray(own) === Array.isArray(value)) return own;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, aboutInside(inner, key)]));
}

/** Returns the status and text of an answer. */
async function send({ method }: Operation, { path, query, body }: Call, token: string) {
  const asked = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one)]),
  );
  const response = await fetch(`${cloud.url}${path}?${new URLSearchParams(asked)}`, {
    method: method.toUpperCase(),
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

/** Names of the other project that the key has given to its own resources. */
const given = new Set<string>();

/** Returns what an answer reveals of the other project beyond the texts that the call itself, or a name given before, contained. */
function revealedBy(text: string, call: Call): string[] {
  const sent = JSON.stringify(call).match(/[\w.-]*outside-[\w.-]*|\b[a-z]+_[0-9a-z]{26}\b/g) ?? [];
  const longestFirst = [...new Set([...sent, ...given])].sort((a, b) => b.length - a.length);
  const unsaid = longestFirst.reduce((left, one) => left.replaceAll(one, ""), text);
  for (const name of JSON.stringify(call.body ?? {}).match(/outside-[\w.-]*/g) ?? []) given.add(name);
  return secrets.filter((secret) => unsaid.includes(secret));
}

/** Returns the changes between all rows before and after that do not lie in the own project. */
function changedOutside(before: readonly Row[], after: readonly Row[]): string[] {
  const [was, is] = [before, after].map((rows) => new Set(rows.map(({ text }) => text)));
  const ownBefore = rowsOfProject(before, inside.projectId);
  const ownAfter = rowsOfProject([...before, ...after], inside.projectId); // the ledger describes rows that are gone
  const lost = before.filter((row) => !ownBefore.has(row) && !is!.has(row.text));
  const fresh = after.filter(({ text }) => !was!.has(text));
  const strange = fresh.filter((row) => !ownAfter.has(row) || outsideIds.some((id) => row.text.includes(id)));
  return [
    ...lost.map(({ table, text }) => `- ${table} ${text}`),
    ...strange.map(({ table, text }) => `+ ${table} ${text}`),
  ];
}

const inOrder = ["get", "post", "put", "patch", "delete"];
const operations = Object.entries(api)
  .flatMap(([resource, contract]) =>
    Object.entries(contract as Record<string, Operation>).map(([name, operation]) => ({
      called: `${resource}.${name}`,
      operation,
    })),
  )
  .filter(({ operation }) => operation.access.kind === "apiKey")
  .sort((a, b) => inOrder.indexOf(a.operation.method) - inOrder.indexOf(b.operation.method));

let before = await readAllRows(cloud.deps.db);
const unserved: string[] = [];
for (const { called, operation } of operations) {
  const { reach } = operation.access as Extract<Operation["access"], { kind: "apiKey" }>;
  test(`${called} (${reach}) changes and shows nothing outside the projects that a key is limited to`, async () => {
    let isServed = false;
    for (const call of callsOf(operation)) isServed = (await ask(operation, call, reach)) || isServed;
    if (!isServed && reach !== "organization") unserved.push(called);
    const was = before;
    before = await readAllRows(cloud.deps.db);
    assert.deepEqual(changedOutside(was, before), []);
    if (reach !== "projects") assert.deepEqual(textsOf(before), textsOf(was));
  });
}

/** Says whether the call succeeded. */
async function ask(operation: Operation, call: Call, reach: Reach): Promise<boolean> {
  const { status, text } = await send(operation, call, limitedKey!);
  const asked = `${JSON.stringify(call)} → ${status} ${text}`;
  assert.ok(status < 500, asked);
  assert.equal(status === 403 && text.includes('"ProjectLimited"'), reach === "organization", asked);
  assert.deepEqual(revealedBy(text, call), [], asked);
  return status < 400;
}

const textsOf = (rows: readonly Row[]) => rows.map(({ table, text }) => `${table} ${text}`).sort();

/** Resources that are missing or used up: changes of a property, a package, a file that can be salvaged, staged changes, a delivery, parts, data of episodes. */
const lacking = [
  ...["devices.delete", "devices.getPropertyInterval", "devices.setPastProperty", "extensions.get"],
  ...["pendingImports.salvage", "edgeFiles.salvage", "datasetVersions.commit", "imports.delete", "episodes.delete"],
  ...["webhooks.retryDelivery", "partUploads.complete", "partUploads.composePart", "recordingFiles.link"],
  ...["trainingSets.create", "trainingSets.delete", "trainingSets.draft", "trainingSets.stream"],
];

test("the walk knows every field by which a call can refer to a resource", () => {
  const fields = operations.flatMap(({ operation: { query, body } }) =>
    Object.keys({ ...query?.shape, ...body?.shape }),
  );
  const plain = ["actorId", "colorName", "folderName", "hasProjectId", "memberIds", "resourceId", "siteBackfillJobId"];
  const unknown = fields.filter((name) => /(Id|Ids|Key|Name)$/.test(name) && !(name in references.inside));
  assert.deepEqual([...new Set(unknown)].sort(), plain);
});

test("the walk can do everything that a key may do in its own project", () =>
  assert.deepEqual(unserved.sort(), lacking.sort()));

test("the walk notices what a key for all projects changes and shows", async () => {
  const one = (operation: Operation) => ({ ...bareCall(operation), path: pathsOf(operation.path, outside)[0]! });
  const got = await send(api.events.get, one(api.events.get), cloud.adminKey);
  assert.notDeepEqual(revealedBy(got.text, one(api.events.get)), []);
  await send(api.events.delete, one(api.events.delete), cloud.adminKey);
  const changed = changedOutside(before, await readAllRows(cloud.deps.db));
  assert.deepEqual(
    changed.map((row) => row.split(" ", 2).join(" ")),
    ["- Event", "+ AuditEntry"],
  );
});
