import { createHash, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { ApiCallError, NetworkError, retryDelayMs } from "@downlink/client";
import { api, edgeLimits, LEASE_HEADER } from "@downlink/protocol";
import { RawConnection } from "../api/raw-connection.ts";
import { itemText, type SaidFile } from "../edge-items.ts";

/** The counts of all agents of a process so far. */
export interface FleetCounts {
  hellos: number;
  polls: number;
  heartbeats: number;
  reports: number;
  /** The number of answers that asked to wait: 429 and 503. */
  postponed: number;
  leasesLost: number;
  /** The number of other answers that were no success, and the text of the last one. */
  failures: number;
  lastFailure: string;
}

export function noCounts(): FleetCounts {
  const made = { hellos: 0, polls: 0, heartbeats: 0, reports: 0 };
  return { ...made, postponed: 0, leasesLost: 0, failures: 0, lastFailure: "" };
}

interface Options {
  readonly port: number;
  readonly token: string;
  /** The agent's own address of the loopback network, because a fleet has many. */
  readonly localAddress: string;
  readonly counts: FleetCounts;
  /** Called when it has said hello and received its work, and waits for more. */
  readonly onSettled: (isSettled: boolean) => void;
}

const HOUR_MS = 3_600_000;

/** The protocol of an agent on a resting robot: one socket, one call after another, and now and then a new file. */
export class SimulatedAgent {
  readonly #options: Options;
  readonly #instanceId = randomUUID();
  readonly #files: SaidFile[] = [];
  #connection: RawConnection | undefined;
  #postponed: ApiCallError | undefined;
  #lease: number | undefined;
  #etag: string | undefined;
  #pollSeconds = edgeLimits.formerLongPollSeconds as number;
  #sequence = 0;
  #heartbeatAtMs = 0;
  #fileAtMs = performance.now() + Math.random() * HOUR_MS;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Runs for ever. An agent that loses its way to the cloud begins with a hello again, which is more than a real one would do. */
  async run(): Promise<never> {
    for (let attempt = 1; ; attempt++) {
      try {
        this.#connection = await RawConnection.open(this.#options.port, this.#options.localAddress).catch(
          asNetworkError,
        );
        await this.#sayHello();
        for (attempt = 0; ; attempt++) {
          if (await this.#step()) attempt = 0;
          else await delay(retryDelayMs(this.#postponed, attempt + 1));
        }
      } catch (failure) {
        if (!(failure instanceof ApiCallError || failure instanceof NetworkError)) throw failure;
        this.#note(failure);
        this.#connection?.close();
        await delay(retryDelayMs(failure, Math.max(1, attempt)));
      }
    }
  }

  /** Returns false if the cloud asks to wait. */
  async #step(): Promise<boolean> {
    const nowMs = performance.now();
    try {
      if (nowMs >= this.#fileAtMs) await this.#reportFile();
      if (nowMs >= this.#heartbeatAtMs) await this.#sendHeartbeat();
      await this.#poll();
      return true;
    } catch (failure) {
      if (!(failure instanceof ApiCallError && isPostponing(failure))) throw failure;
      this.#note(failure);
      this.#postponed = failure;
      return false;
    }
  }

  async #sayHello(): Promise<void> {
    const { lease, longPollSeconds } = await this.#call<{ lease: number; longPollSeconds?: number }>(
      "POST",
      api.edge.hello.path,
      {
        agentVersion: "0.0.0-bench",
        instanceId: this.#instanceId,
        machineId: this.#options.token,
        host: { hostname: "robot", platform: "linux", arch: "x64" },
        lease: this.#lease,
        inventory: this.#inventory(),
        clock: new Date().toISOString(),
      },
    );
    this.#options.counts.hellos += 1;
    this.#lease = lease;
    this.#etag = undefined;
    this.#heartbeatAtMs = 0;
    this.#pollSeconds = longPollSeconds ?? edgeLimits.formerLongPollSeconds;
  }

  /** Returns the digest and the count that both sides compare. */
  #inventory() {
    const lines = this.#files.map(({ versionId }) => `${versionId} indexed\n`).sort();
    return { count: lines.length, digest: createHash("sha256").update(lines.join("")).digest("hex") };
  }

  async #sendHeartbeat(): Promise<void> {
    this.#heartbeatAtMs = performance.now() + edgeLimits.heartbeatSeconds * 1000;
    const disk = { totalBytes: 64e9, freeBytes: 32e9 };
    await this.#call("POST", api.edge.status.path, { files: { reported: this.#files.length }, disk, problems: [] });
    this.#options.counts.heartbeats += 1;
  }

  async #reportFile(): Promise<void> {
    this.#fileAtMs += HOUR_MS;
    const number = this.#files.length;
    const file = { number, versionId: randomUUID().replaceAll("-", ""), path: `${number}.mcap` };
    this.#sequence += 1;
    await this.#call("POST", api.edge.report.path, `{"sequence":${this.#sequence},"upserts":[${itemText(file)}]}`);
    this.#files.push(file);
    this.#options.counts.reports += 1;
  }

  async #poll(): Promise<void> {
    const { counts, onSettled } = this.#options;
    const query = `wait=${this.#pollSeconds}&maxRequests=${edgeLimits.requestsPerAnswer}`;
    const known = this.#etag === undefined ? "" : `&etag=${this.#etag}`;
    const { etag } = await this.#call<{ etag: string }>("GET", `${api.edge.work.path}?${query}${known}`);
    counts.polls += 1;
    this.#etag = etag;
    onSettled(true);
  }

  async #call<T>(method: string, target: string, body?: object | string): Promise<T> {
    const text = typeof body === "object" ? JSON.stringify(body) : (body ?? "");
    const lines = [
      `${method} ${target} HTTP/1.1`,
      "host: 127.0.0.1",
      `authorization: Bearer ${this.#options.token}`,
      "accept: application/json",
      ...(this.#lease === undefined ? [] : [`${LEASE_HEADER}: ${this.#lease}`]),
      ...(body === undefined ? [] : ["content-type: application/json", `content-length: ${Buffer.byteLength(text)}`]),
    ];
    const answer = await this.#connection!.send(`${lines.join("\r\n")}\r\n\r\n${text}`).catch(asNetworkError);
    if (answer.status === 200) return JSON.parse(answer.body) as T;
    const { code, error } = JSON.parse(answer.body) as { code: string; error: string };
    const seconds = /^retry-after: (\d+)/im.exec(answer.head)?.[1];
    const retryAfterMs = seconds === undefined ? {} : { retryAfterMs: Number(seconds) * 1000 };
    throw new ApiCallError({ status: answer.status, code, message: `${target}: ${error}`, ...retryAfterMs });
  }

  #note(failure: ApiCallError | NetworkError): void {
    const { counts, onSettled } = this.#options;
    onSettled(false);
    if (failure instanceof NetworkError) return;
    if (isPostponing(failure)) counts.postponed += 1;
    else if (failure.code === "LeaseLost" || failure.code === "LeaseHeldElsewhere") counts.leasesLost += 1;
    else counts.failures += 1;
    counts.lastFailure = failure.message;
  }
}

function isPostponing({ status }: ApiCallError): boolean {
  return status === 503 || status === 429;
}

function asNetworkError(error: Error): never {
  throw new NetworkError(error.message, error);
}
