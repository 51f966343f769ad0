import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { api, LEASE_HEADER } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import type { ControlPlane } from "../../processes/control-plane.ts";

export interface Nuisance {
  readonly name: string;
  /** Begins, and goes on until it is disposed of. */
  begin(): Promise<AsyncDisposable>;
}

const PAUSE_MS = 1000;

export async function prepareNuisances(cloud: ControlPlane): Promise<Nuisance[]> {
  const device = await cloud.admin.call(api.devices.create, { name: "robot" });
  const agentHeaders = await greet(cloud, device.id);
  const admin = { authorization: `Bearer ${cloud.adminKey}` };
  const recordingId = await importFile(cloud);
  const burst = (count: number, path: string, sent: RequestInit) => () => repeatBurst(cloud, { count, path, sent });
  const at = "2026-01-01T00:00:00Z";
  const metadata = Object.fromEntries(Array.from({ length: 300_000 }, (_, n) => [`${n}`, "x"]));
  const layout = JSON.stringify({
    id: "bench",
    name: "x",
    permission: "ORG_WRITE",
    data: { a: Array(499_000).fill(1) },
  });
  const report = JSON.stringify({ sequence: 1, upserts: Array(249_000).fill({}) });
  const event = JSON.stringify({ deviceId: device.id, start: at, end: at, metadata });
  const { etag } = (await (await fetch(`${cloud.url}/v1/edge/work`, { headers: agentHeaders })).json()) as {
    etag: string;
  };
  return [
    {
      name: "200 heartbeats of one token",
      begin: burst(200, "/v1/edge/status", {
        method: "POST",
        body: '{"files":{},"problems":[]}',
        headers: agentHeaders,
      }),
    },
    { name: "4 MiB of metadata", begin: burst(4, "/v1/events", { method: "POST", body: event, headers: admin }) },
    {
      name: "16 layouts of 499,000 numbers",
      begin: burst(16, "/v1/layouts", { method: "POST", body: layout, headers: admin }),
    },
    {
      name: "16 reports of 249,000 items",
      begin: burst(16, "/v1/edge/recordings", { method: "POST", body: report, headers: agentHeaders }),
    },
    { name: "32 documents of the API", begin: burst(32, "/v1/openapi.json", {}) },
    {
      name: "40 sign-ins with made-up e-mails",
      begin: burst(40, "/v1/session", {
        method: "POST",
        body: '{"email":"x@example.org","password":"made-up-password"}',
      }),
    },
    {
      name: "500 long polls of one device",
      begin: burst(500, `/v1/edge/work?wait=55&etag=${etag}`, { headers: agentHeaders }),
    },
    {
      name: "200 unread GETs of one link",
      begin: async () => {
        const { link } = await cloud.admin.call(api.exports.create, { recordingId });
        const { pathname, search } = new URL(link);
        return openSockets(cloud, 200, `GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`);
      },
    },
    {
      name: "400 clients that are silent",
      begin: () => openSockets(cloud, 400, "GET /v1/devices HTTP/1.1\r\nX-Slow: "),
    },
  ];
}

async function greet(cloud: ControlPlane, deviceId: string): Promise<Record<string, string>> {
  const { token } = await cloud.admin.call(api.deviceTokens.create, { deviceId });
  const agent = createClient({ baseUrl: cloud.url, token: token!, transport: undiciTransport() });
  const { lease } = await agent.call(api.edge.hello, {
    agentVersion: "0",
    instanceId: randomBytes(16).toString("hex"),
    machineId: "m",
    host: { hostname: "robot", platform: "linux", arch: "x64" },
    inventory: { count: 0, digest: createHash("sha256").digest("hex") },
    clock: 0n,
  });
  return { authorization: `Bearer ${token}`, [LEASE_HEADER]: String(lease) };
}

/** The file is larger than what is buffered on the way to a receiver that reads nothing. */
async function importFile({ admin }: ControlPlane): Promise<string> {
  const topics = [{ topic: "/camera", kind: "blob" as const, rateHz: 10, sizeBytes: 500_000 }];
  const body = (await makeMcap({ durationSeconds: 10, topics, compression: "" })) as Uint8Array<ArrayBuffer>;
  const { link } = await admin.call(api.uploads.create, { filename: "a.mcap", deviceName: "robot" });
  await fetch(link, { method: "PUT", headers: { "content-type": "application/octet-stream" }, body });
  for (;;) {
    const [recording] = await admin.call(api.recordings.list, { importStatus: ["complete"] });
    if (recording) return recording.id;
    await delay(100);
  }
}

interface Burst {
  readonly count: number;
  readonly path: string;
  readonly sent: RequestInit;
}

/** Sends as many calls at once, and every second as many again, once they are answered. */
async function repeatBurst({ url }: ControlPlane, { count, path, sent }: Burst): Promise<AsyncDisposable> {
  const stopping = new AbortController();
  const headers = { "content-type": "application/json", ...sent.headers };
  const call = async () => {
    const answer = await fetch(`${url}${path}`, { ...sent, headers, signal: stopping.signal });
    await answer.arrayBuffer();
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      const calls = Promise.allSettled(Array.from({ length: count }, call));
      await Promise.all([Promise.race([calls, delay(PAUSE_MS * 2)]), delay(PAUSE_MS)]);
    }
  };
  const running = run();
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Opens sockets that each send the text, and read nothing. */
async function openSockets({ url }: ControlPlane, count: number, text: string): Promise<AsyncDisposable> {
  const sockets: Socket[] = Array.from({ length: count }, () => {
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" }).pause();
    socket.on("error", () => {});
    socket.write(text);
    return socket;
  });
  await Promise.all(sockets.map((socket) => once(socket, "connect").catch(() => undefined)));
  return {
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await delay(200);
    },
  };
}
