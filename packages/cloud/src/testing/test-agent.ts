import { createHash, randomBytes } from "node:crypto";
import {
  api,
  type CallInput,
  type EdgeItem,
  type EdgeOtherItem,
  LEASE_HEADER,
  type Operation,
  type Output,
} from "@downlink/protocol";
import type { TestCloud } from "./start-cloud.ts";

const SECOND_NS = 1_000_000_000n;

/** An agent's side of the protocol, call by call: the test decides what the agent reports. */
export interface TestAgent {
  readonly deviceId: string;
  readonly token: string;
  readonly hello: Output<typeof api.edge.hello>;
  call<O extends Operation>(operation: O, input: CallInput<O>): Promise<Output<O>>;
  report(
    items: readonly EdgeItem[],
    more?: Partial<CallInput<typeof api.edge.report>>,
  ): Promise<Output<typeof api.edge.report>>;
  /** PUTs the bytes of each part to the target granted for it. */
  sendParts(upload: OpenedUpload, bytes: Uint8Array): Promise<void>;
}

interface Identity extends Pick<CallInput<typeof api.edge.hello>, "takesCuts"> {
  readonly instanceId?: string;
  readonly lease?: number;
}

/** Creates a device with a token, and an agent that has said hello. */
export async function startAgent(cloud: TestCloud, deviceName: string, projectId?: string): Promise<TestAgent> {
  const device = await cloud.admin.call(api.devices.create, { name: deviceName, projectId });
  const { token } = await cloud.admin.call(api.deviceTokens.create, { deviceId: device.id });
  return sayHello(cloud, { deviceId: device.id, token: token! });
}

export async function sayHello(
  cloud: TestCloud,
  agent: { deviceId: string; token: string } & Identity,
): Promise<TestAgent> {
  const client = cloud.withToken(agent.token);
  const hello = await client.call(api.edge.hello, helloBody(agent));
  let sequence = 0;
  const call: TestAgent["call"] = (operation, input) =>
    client.call(operation, input, { headers: { [LEASE_HEADER]: String(hello.lease) } });
  return {
    ...agent,
    hello,
    call,
    report: (items, more) => call(api.edge.report, { sequence: ++sequence, upserts: [...items], ...more }),
    sendParts: (upload, bytes) => sendParts(call, upload, bytes),
  };
}

export function helloBody({
  instanceId = randomBytes(16).toString("hex"),
  lease,
  takesCuts,
}: Identity = {}): CallInput<typeof api.edge.hello> {
  return {
    agentVersion: "0.0.0-test",
    instanceId,
    machineId: "machine",
    host: { hostname: "robot", platform: "linux", arch: "x64" },
    lease,
    inventory: { count: 0, digest: sha256("") },
    clock: 0n,
    takesCuts,
  };
}

/** Returns what an agent reports of a finished recording of 10 seconds. */
export function recordingItem(
  more: Partial<Extract<EdgeItem, { state: "indexed" }>> = {},
): Extract<EdgeItem, { state: "indexed" }> {
  const start = more.start ?? 1_000n * SECOND_NS;
  return {
    state: "indexed",
    versionId: randomBytes(12).toString("hex"),
    path: `run-${randomBytes(4).toString("hex")}.mcap`,
    size: 1000,
    modifiedAt: 5n * SECOND_NS,
    headTailSha256: sha256(randomBytes(8)),
    format: "mcap",
    start,
    end: start + 10n * SECOND_NS,
    messageCount: 7,
    metadata: [],
    attachments: [],
    topics: [],
    ...more,
  };
}

export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

type OpenedUpload = { requestId: string } & Pick<
  Output<typeof api.edge.openUpload>,
  "uploadId" | "partSize" | "digest"
>;

async function sendParts(call: TestAgent["call"], upload: OpenedUpload, bytes: Uint8Array) {
  const { requestId, uploadId, partSize, digest = "md5" } = upload;
  for (let number = 1; (number - 1) * partSize < bytes.length; number++) {
    const part = bytes.subarray((number - 1) * partSize, number * partSize);
    const stated = { [digest]: createHash(digest).update(part).digest("base64") };
    const { grants } = await call(api.edge.grantParts, {
      requestId,
      uploadId,
      parts: [{ number, length: part.length, ...stated }],
    });
    const response = await fetch(grants[0]!.url, {
      method: "PUT",
      headers: grants[0]!.headers,
      body: part as Uint8Array<ArrayBuffer>,
    });
    if (!response.ok) throw new Error(`part ${number}: ${response.status} ${await response.text()}`);
  }
}

/** A file that an agent reported, and that is requested from it. */
export interface AskedFor {
  readonly agent: TestAgent;
  readonly item: Extract<EdgeItem, { state: "indexed" }>;
  readonly recordingId: string;
  readonly requestId: string;
  /** The input that opens its upload. */
  readonly version: CallInput<typeof api.edge.openUpload>;
}

/** Creates a device whose agent reported one file, and requests that file. */
export async function askForFile(cloud: TestCloud, deviceName: string, item = recordingItem()): Promise<AskedFor> {
  const agent = await startAgent(cloud, deviceName);
  await agent.report([item]);
  const [recording] = await cloud.admin.call(api.recordings.list, { deviceId: agent.deviceId });
  await cloud.admin.call(api.recordings.requestImport, { keyOrId: recording!.id });
  const { requestId } = (await agent.call(api.edge.work, {})).work.imports[0]!;
  const { versionId, size, modifiedAt } = item;
  return { agent, item, recordingId: recording!.id, requestId, version: { requestId, versionId, size, modifiedAt } };
}

/** Delivers a requested file completely. */
export async function deliver(
  agent: TestAgent,
  item: Extract<EdgeItem, { state: "indexed" }>,
  bytes: Uint8Array,
): Promise<string> {
  const { work } = await agent.call(api.edge.work, {});
  const wanted = work.imports.find(({ versionId }) => versionId === item.versionId)!;
  const { requestId } = wanted;
  const upload = await agent.call(api.edge.openUpload, {
    requestId,
    versionId: item.versionId,
    size: item.size,
    modifiedAt: item.modifiedAt,
  });
  await agent.sendParts({ requestId, ...upload }, bytes);
  await agent.call(api.edge.completeUpload, { requestId, uploadId: upload.uploadId, parts: [], sha256: sha256(bytes) });
  return requestId;
}

/** Returns what an agent reports of a file that is no importable recording. */
export function brokenItem(more: Partial<EdgeOtherItem> = {}): EdgeOtherItem {
  const { versionId, path, size, modifiedAt, headTailSha256 } = recordingItem();
  const facts = { versionId, path, size, modifiedAt, headTailSha256 };
  return { ...facts, state: "damaged", reason: { code: "BadChunk", text: "chunk at 8 is broken" }, ...more };
}
