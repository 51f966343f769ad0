import { formatTimestamp, LEASE_HEADER } from "@downlink/protocol";
import { BUSY_DEVICE_ID, deviceId, eventId } from "../dataset.ts";
import { recordingId } from "../recording-dataset.ts";
import { START_NS } from "../seed-sql.ts";
import type { GreetedAgent } from "./greeted-agents.ts";
import { SEQUENCE_MARK } from "./raw-connection.ts";

export interface MeasuredOperation {
  readonly name: string;
  /** Returns the request of the connection with this number, as it is sent. */
  readonly request: (connection: number) => string;
  /** Both servers must answer the same text; otherwise, if there are new ids, the same fields. */
  readonly isSame: boolean;
  /** The least ratio that is accepted; absent: the ratio is only reported. */
  readonly wanted?: number;
}

interface Scene {
  readonly adminKey: string;
  readonly agents: readonly GreetedAgent[];
  /** Recordings that are imported, with a verified index. */
  readonly importedIds: readonly string[];
}

const WEEK_NS = 7n * 86_400n * 1_000_000_000n;
const READ = 0.8;
const EMPTY = 0.7;

export function measuredOperations({ adminKey, agents, importedIds }: Scene): MeasuredOperation[] {
  const get = (target: string) => requestText({ target, token: adminKey });
  const post = (target: string, body: object) => requestText({ target, token: adminKey, body });
  const recorded = (n: number) => deviceId(1 + (n % 10));
  const window = { start: formatTimestamp(START_NS), end: formatTimestamp(START_NS + WEEK_NS) };
  const span = { start: window.start, end: window.start };
  return [
    { name: "/livez", request: () => requestText({ target: "/livez" }), isSame: true, wanted: EMPTY },
    { name: "a device by id", request: (n) => get(`/v1/devices/${deviceId(1 + n)}`), isSame: true, wanted: READ },
    { name: "an event by id", request: (n) => get(`/v1/events/${eventId(1 + n)}`), isSame: true, wanted: READ },
    {
      name: "a recording by id",
      request: (n) => get(`/v1/recordings/${recordingId(1 + n)}`),
      isSame: true,
      wanted: READ,
    },
    { name: "50 devices", request: () => get("/v1/devices?limit=50"), isSame: true, wanted: READ },
    { name: "50 events", request: () => get("/v1/events?limit=50"), isSame: true, wanted: READ },
    {
      name: "50 events of a device",
      request: () => get(`/v1/events?limit=50&deviceId=${BUSY_DEVICE_ID}`),
      isSame: true,
      wanted: READ,
    },
    { name: "50 recordings", request: () => get("/v1/recordings?limit=50"), isSame: true, wanted: READ },
    {
      name: "50 recordings of a device",
      request: (n) => get(`/v1/recordings?limit=50&deviceId=${recorded(n)}`),
      isSame: true,
      wanted: READ,
    },
    {
      name: "coverage of a device's week",
      request: (n) => get(`/v1/data/coverage?deviceId=${recorded(n)}&${new URLSearchParams(window)}`),
      isSame: true,
    },
    {
      name: "event create",
      request: (n) => post("/v1/events", { deviceId: deviceId(1 + n), ...span, metadata: { reason: "estop" } }),
      isSame: false,
    },
    {
      name: "agent: hello",
      request: (n) => agentRequest(agents[n]!, "/v1/edge/hello", agents[n]!.hello),
      isSame: false,
    },
    {
      name: "agent: report",
      request: (n) => agentRequest(agents[n]!, "/v1/edge/recordings", reportBody(agents[n]!)),
      isSame: true,
    },
    { name: "agent: work", request: (n) => agentRequest(agents[n]!, "/v1/edge/work?maxRequests=100"), isSame: false },
    {
      name: "upload link",
      request: (n) => post("/v1/data/upload", { filename: "run.mcap", deviceId: deviceId(1 + n) }),
      isSame: false,
    },
    {
      name: "export link",
      request: (n) => post("/v1/data/stream", { recordingId: importedIds[n % importedIds.length] }),
      isSame: false,
    },
  ];
}

/** Reports one file that is known already, as in a repeated listing. */
function reportBody({ item }: GreetedAgent): string {
  return `{"sequence":${SEQUENCE_MARK},"upserts":[${item}]}`;
}

function agentRequest({ token, lease }: GreetedAgent, target: string, body?: object | string): string {
  return requestText({ target, token, body, headers: { [LEASE_HEADER]: String(lease) } });
}

interface Request {
  readonly target: string;
  readonly token?: string;
  readonly body?: object | string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

function requestText({ target, token, body, headers = {} }: Request): string {
  const text = typeof body === "object" ? JSON.stringify(body) : body;
  const all = {
    host: "127.0.0.1",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...headers,
    ...(text !== undefined && {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(text)),
    }),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`${text === undefined ? "GET" : "POST"} ${target} HTTP/1.1`, ...lines, "", text ?? ""].join("\r\n");
}
