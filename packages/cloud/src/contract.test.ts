import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  api,
  bodyLimits,
  type Capability,
  capabilities,
  ErrorBody,
  type Operation,
  pathParameters,
} from "@downlink/protocol";
import { readExamples } from "./testing/example-bodies.ts";
import { makeOneOfEach } from "./testing/one-of-each.ts";
import { startCloud } from "./testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { orgId, id: deviceId } = await cloud.admin.call(api.devices.create, { name: "robot" });
const { token: deviceToken } = await cloud.admin.call(api.deviceTokens.create, { deviceId });
const another = await cloud.admin.call(api.projects.create, { name: "another" });
const limitedKey = await cloud.addKey(capabilities, [another.id]);
const other = await cloud.otherOrganization();
const theirs = await makeOneOfEach(cloud, { client: other, name: "theirs" });
const exampleOf = await readExamples(cloud.url);

const keysWithout = new Map<Capability, Promise<string>>();

/** Returns a key with all capabilities but one. */
function keyWithout(capability: Capability): Promise<string> {
  const key = keysWithout.get(capability) ?? cloud.addKey(capabilities.filter((held) => held !== capability));
  keysWithout.set(capability, key);
  return key;
}

interface Sent {
  readonly token?: string;
  readonly query?: string;
  readonly id?: string;
  /** The request has a body that the contract accepts, as its documentation shows it. */
  readonly isComplete?: boolean;
}

async function send(operation: Operation, { token, query = "", id = "unknown", isComplete = false }: Sent) {
  const path = pathParameters(operation.path).reduce(
    (text, name) => text.replace(`{${name}}`, name === "versionNumber" ? "1" : id),
    operation.path,
  );
  const response = await fetch(`${cloud.url}${path}${query}`, {
    method: operation.method.toUpperCase(),
    headers: { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...(isComplete && { body: JSON.stringify(exampleOf(operation)) }),
  });
  const body = response.status === 204 ? undefined : ((await response.json()) as unknown);
  return { status: response.status, body, headers: response.headers };
}

for (const [resource, operations] of Object.entries(api))
  for (const [name, operation] of Object.entries(operations as Record<string, Operation>)) {
    const called = `${resource}.${name}`;

    test(`${called} refuses a call without a token, and one with an unknown token: 401`, async () => {
      for (const token of [undefined, "dl_sk_unknown"]) {
        const { status, body, headers } = await send(operation, { token });
        assert.equal(status, 401);
        assert.equal(ErrorBody.parse(body).code, "Unauthenticated");
        assert.match(headers.get("content-type")!, /^application\/json/);
        assert.ok(headers.get("x-request-id"));
      }
    });

    if (operation.access.kind === "apiKey") {
      const { capability, reach } = operation.access;
      test(`${called} refuses a key without its capability, and names it: 403`, async () => {
        const { status, body } = await send(operation, { token: await keyWithout(capability) });
        assert.equal(status, 403);
        assert.equal(ErrorBody.parse(body).code, "MissingCapability");
        assert.ok(ErrorBody.parse(body).error.includes(capability));
      });

      test(`${called} ${reach === "organization" ? "refuses" : "takes"} a key that is limited to some projects`, async () => {
        const { status, body } = await send(operation, { token: limitedKey, isComplete: true });
        assert.equal(status === 403 && ErrorBody.parse(body).code === "ProjectLimited", reach === "organization");
      });
    }

    test(`${called} refuses a credential of the wrong kind: 403`, async () => {
      const { status, body } = await send(operation, {
        token: operation.access.kind === "agent" ? cloud.adminKey : deviceToken,
      });
      assert.equal(status, 403);
      assert.equal(ErrorBody.parse(body).code, "WrongCredentialKind");
    });

    if (operation.query && "limit" in operation.query.shape)
      test(`${called} refuses a limit above 2000: 400`, async () => {
        const query = `?${requiredQuery(operation)}&limit=2001`;
        const { status, body } = await send(operation, { token: cloud.adminKey, query });
        assert.equal(status, 400);
        assert.equal(ErrorBody.parse(body).details?.[0]?.path, "limit");
      });

    if (operation.path.includes("{") && operation.access.kind === "apiKey")
      test(`${called} answers 404 for another organization's id, with no trace of the other's data`, async () => {
        const id = idOfOther(operation.path);
        const query = `?${requiredQuery(operation)}`;
        const { status, body } = await send(operation, { token: cloud.adminKey, id, query, isComplete: true });
        assert.equal(status, 404);
        assert.ok(!JSON.stringify(body).includes("theirs"));
      });

    if (
      operation.query &&
      "projectId" in operation.query.shape &&
      operation.method === "get" &&
      !operation.path.includes("{")
    )
      test(`${called} answers 404 for another organization's project`, async () => {
        const window = "start" in operation.query!.shape ? "&start=2026-01-01&end=2026-01-02" : "";
        const bins = "binNs" in operation.query!.shape ? "&binNs=1000" : "";
        const lake = called === "lakeFiles.list" ? `&siteId=${theirs.sites}&recordingKey=theirs-key` : "";
        const { status } = await send(operation, {
          token: cloud.adminKey,
          query: `?projectId=${theirs.projects}${window}${bins}${lake}`,
        });
        assert.equal(status, 404);
      });
  }

function requiredQuery({ query }: Operation): string {
  if (query && "binNs" in query.shape) return "start=2026-01-01&binNs=1000";
  return query && "version" in query.shape ? "version=1" : "";
}

/** Returns the id of the other organization's resource of the kind that stands before the path's parameter. */
function idOfOther(path: string): string {
  const kind = /\/([a-z-]+)\/\{/.exec(path)![1]!;
  return theirs[kind] ?? assert.fail(`the test makes no ${kind} of another organization`);
}

test("another organization sees none of this one's devices", async () => {
  const [seen] = await other.call(api.devices.list, {});
  assert.notEqual(seen!.orgId, orgId);
  assert.deepEqual(
    (await other.call(api.devices.list, {})).map((device) => device.name),
    ["theirs-robot"],
  );
});

test("an unknown path is a JSON 404", async () => {
  const response = await fetch(`${cloud.url}/v1/nothing`);
  assert.equal(response.status, 404);
  assert.equal(ErrorBody.parse(await response.json()).code, "NotFound");
});

test("a body that is not JSON is 400 with code MalformedJson, and one over its limit is 413", async () => {
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  const post = (body: string) => fetch(`${cloud.url}/v1/devices`, { method: "POST", headers, body });
  const malformed = await post("{");
  assert.deepEqual([malformed.status, ErrorBody.parse(await malformed.json()).code], [400, "MalformedJson"]);
  const array = await post("[]");
  const { code, details } = ErrorBody.parse(await array.json());
  assert.deepEqual([array.status, code, details?.length], [400, "InvalidRequest", 1]);
  const large = await post(`{"name":"${"x".repeat(bodyLimits.ordinary.bytes)}"}`);
  assert.deepEqual([large.status, ErrorBody.parse(await large.json()).code], [413, "BodyTooLarge"]);
});

test("a sane X-Request-Id is echoed, an insane one replaced", async () => {
  const ask = async (id: string) =>
    (await fetch(`${cloud.url}/livez`, { headers: { "x-request-id": id } })).headers.get("x-request-id");
  assert.equal(await ask("abc-123"), "abc-123");
  assert.notEqual(await ask("a b"), "a b");
});
