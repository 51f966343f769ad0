import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  type EdgeItem,
  type EdgeSettings,
  edgeLimits,
  INCARNATION_HEADER,
  LEASE_HEADER,
  type Operation,
  type WantedCut,
  type WantedImport,
  type WantedSalvage,
} from "@downlink/protocol";
import { digestInventory } from "../inventory/digest.ts";
import { FakeChanges } from "./fake-changes.ts";
import { FakeEnrolments } from "./fake-enrolments.ts";
import {
  answerJson,
  applyFault,
  type FakeRequest,
  type Fault,
  isCutOff,
  matchOperation,
  type Received,
  readText,
  refuse,
} from "./fake-http.ts";
import { type FakeHello, FakeLeases } from "./fake-leases.ts";
import { FakePermits } from "./fake-permits.ts";
import { FakeReports } from "./fake-reports.ts";
import { FakeUploads } from "./fake-uploads.ts";
import { answerLocalRequests, answerWork } from "./fake-work.ts";
import { RefusalError } from "./refusal.ts";
import { stablePort } from "./stable-port.ts";

/** The first segment of the path to which bytes are sent. */
const putNames: Readonly<Record<string, string>> = { parts: "put", pieces: "putPiece" };

type Call = (input: Record<string, unknown>) => unknown;

/** The far side of the edge contract, in memory: keeps its rules of lease, listing and upload, and can fail on demand. */
export class FakeCloud implements AsyncDisposable {
  token = "dl_dt_0123456789abcdefghijABCDEFGHIJ";
  readonly files = new Map<string, EdgeItem>();
  readonly schemas = new Map<string, string>();
  readonly requests = new Map<string, WantedImport>();
  readonly acknowledged: string[] = [];
  /** Cancelled requests stay here until they are acknowledged, which only happens where an answer names them. */
  readonly cancelled = new Set<string>();
  /** How many requests an answer names; it says where there are more. */
  requestsPerAnswer = Number.POSITIVE_INFINITY;
  /** The imports that agents gave up, in order. */
  readonly failures: { readonly requestId: string; readonly code: string }[] = [];
  /** The versions that agents deleted themselves, with the reasons. */
  readonly deleted = new Map<string, string>();
  readonly calls: FakeRequest[] = [];
  readonly uploads: FakeUploads;
  readonly permits = new FakePermits();
  settings: EdgeSettings = { enabled: true, retainRecordingsSeconds: 0, autoDeleteAfterImport: false };
  device = { id: "dev_1", name: "rover-1" };
  /** Undefined for a control plane that does not name projects. */
  projectName: string | undefined = "field tests";
  /** The site, where the token belongs to one. */
  site: { id: string; name: string } | undefined;
  /** Says at a site why a file belongs to no device. */
  judgePlace: (item: EdgeItem) => { code: string; text: string } | undefined = () => undefined;
  /** This token can only create a device. */
  enrolmentToken = "dl_dt_unassociated";
  readonly enrolments = new FakeEnrolments();
  leaseMs = 60_000;
  /** Tests change it to simulate a restore from a backup. */
  incarnation = "1";
  /** How long a poll for work may wait; undefined for an older cloud, which takes 30 seconds and does not say so. */
  longPollSeconds: number | undefined = edgeLimits.longPollSeconds;
  /** A poll is answered after this time at the latest. */
  longestWaitMs = Number.POSITIVE_INFINITY;
  /** False for an older cloud, which names its incarnation only in the answer to a hello. */
  namesIncarnation = true;
  /** Which items of a listing are imported already. */
  isImported: (item: EdgeItem) => boolean = () => false;
  /** The SHA-256 of what the cloud stores of an item. */
  contentOf: (item: EdgeItem) => string | undefined = () => undefined;
  /** Why the import of a listed item failed; undefined for an older cloud, which does not say it. */
  failureOf: ((item: EdgeItem) => { code: string; text: string } | undefined) | undefined = () => undefined;
  /** Items for which a whole report is refused with 400. */
  isItemRefused: (item: EdgeItem) => boolean = () => false;
  fault: (request: FakeRequest) => Fault | undefined = () => undefined;
  /** Holds a request back before anything is done about it. */
  gate: (request: FakeRequest) => Promise<void> | undefined = () => undefined;
  heartbeats: Record<string, unknown>[] = [];
  /** Counts the connections of all agents: since the start, and at this moment. */
  readonly connections = { begun: 0, open: 0 };
  /** Files whose readable content is wanted. */
  salvages: readonly WantedSalvage[] = [];
  /** Parts of files that are wanted; undefined for an older cloud. */
  cuts: readonly WantedCut[] | undefined;
  readonly #leases = new FakeLeases();
  /** An id is never given twice. */
  #requested = 0;
  readonly #reports: FakeReports;
  readonly #changes = new FakeChanges();
  readonly #server: Server;
  readonly #port = stablePort();
  readonly url = `http://127.0.0.1:${this.#port}`;
  /** The URL to which parts are sent. */
  publicUrl = this.url;

  private constructor() {
    this.uploads = new FakeUploads(this);
    this.#reports = new FakeReports(this);
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.on("connection", (socket) => {
      this.connections.begun += 1;
      this.connections.open += 1;
      socket.once("close", () => (this.connections.open -= 1));
    });
  }

  static async start(): Promise<FakeCloud> {
    for (;;) {
      const cloud = new FakeCloud();
      const isListening = await cloud.listen().then(() => true, ignoreTaken);
      if (isListening) return cloud;
    }
  }

  /** Listens on the same port each time. */
  async listen(): Promise<void> {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  /** Simulates a server that is gone: connections break, new ones are refused. */
  async goAway(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.goAway();
  }

  /** How many listings were received to their end. */
  get listings(): number {
    return this.#reports.listings;
  }

  /** The known file at a path. */
  at(path: string): EdgeItem | undefined {
    return [...this.files.values()].find((file) => file.path === path);
  }

  requestImport(path: string, options: { priority?: number } = {}): string {
    const file = this.at(path);
    if (!file) throw new Error(`the agent did not report ${path}`);
    this.#requested += 1;
    const requestId = `req_${this.#requested}`;
    const request = { requestId, recordingId: `rec_${file.versionId}`, versionId: file.versionId };
    const requestedAt = BigInt(Date.now()) * 1_000_000n + BigInt(this.requests.size);
    this.requests.set(requestId, { ...request, stage: "deliver", priority: options.priority ?? 0, requestedAt });
    this.changed();
    return requestId;
  }

  cancel(requestId: string): void {
    this.requests.delete(requestId);
    this.cancelled.add(requestId);
    this.changed();
  }

  advance(requestId: string, stage: WantedImport["stage"], reason?: WantedImport["reason"]): void {
    const request = this.requests.get(requestId);
    if (request) this.requests.set(requestId, { ...request, stage, reason });
    this.changed();
  }

  /** An end that counts no more is named under an id of its own. */
  takeBack(requestId: string, request: WantedImport): void {
    this.requests.delete(requestId);
    const overId = `${requestId}.over`;
    this.requests.set(overId, { ...request, requestId: overId, isOver: true });
    this.changed();
  }

  /** Another agent takes the lease; it never renews it. */
  takeLeaseElsewhere(): void {
    this.#leases.takeElsewhere();
  }

  /** Simulates a restore from a backup without a new incarnation. */
  forgetLeases(): void {
    this.#leases.setBack(0);
  }

  changed(): void {
    this.#changes.note();
  }

  /** Waits for a condition on what the cloud knows; fails after `timeoutMs` and says what it waited for. */
  async until(what: string, isTrue: () => boolean, timeoutMs = 120_000): Promise<void> {
    const deadline = AbortSignal.timeout(timeoutMs);
    while (!isTrue()) {
      if (deadline.aborted) throw new Error(`waited in vain until ${what}`);
      await this.#changes.next(deadline);
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const put = putNames[url.pathname.split("/")[1] ?? ""];
    const found = put ? { name: put, params: {} } : matchOperation(request.method, url.pathname);
    const call = { name: found?.name ?? "?", path: url.pathname };
    this.calls.push(call);
    await this.gate(call);
    const fault = this.fault(call);
    if (fault && fault.kind !== "loseAnswer") return await applyFault(fault, request, response);
    const { socket } = request;
    try {
      const answer = await this.#handle({ request, url, found });
      if (this.namesIncarnation) response.setHeader(INCARNATION_HEADER, this.incarnation);
      if (fault) socket.destroy();
      else answerJson(response, 200, answer);
    } catch (error) {
      if (!isCutOff(error, request)) refuse(response, error);
    } finally {
      this.changed();
    }
  }

  async #handle({ request, url, found }: Received): Promise<unknown> {
    if (url.pathname === "/livez") return { status: "live" };
    if (found?.name === "put") return await this.uploads.receivePart(url, request);
    if (found?.name === "putPiece") return await this.uploads.receivePiece(url, request);
    const { token, enrolmentToken } = this;
    this.enrolments.admit({ token, enrolmentToken, authorization: request.headers.authorization, call: found?.name });
    if (!found?.operation) throw new RefusalError("NotFound");
    const { operation, name, params } = found;
    const body = operation.body ? JSON.parse(await readText(request)) : {};
    const query = operation.query?.decode(Object.fromEntries(url.searchParams) as never) ?? {};
    const input = { ...params, ...query, ...(operation.body?.decode(body) ?? {}) };
    if (name !== "hello" && name !== "enroll") this.#leases.renew(Number(request.headers[LEASE_HEADER]));
    const answer = await this.#calls[name]?.(input);
    return (operation.response as NonNullable<Operation["response"]>).encode(answer);
  }

  async #work(input: { etag?: string; wait: number; maxRequests?: number }): Promise<unknown> {
    const next = (deadline: AbortSignal) => this.#changes.next(deadline);
    return await answerWork(this, input, { next, isListening: () => this.#server.listening });
  }

  readonly #calls: Readonly<Record<string, Call>> = {
    enroll: (input) => this.enrolments.enroll({ ...input, enrolledWith: this.enrolmentToken } as never),
    hello: (input) => this.#hello(input as never),
    report: (input) => this.#reports.take(input as never),
    work: async (input) => await this.#work(input as never),
    requestImports: ({ versionIds }) => answerLocalRequests(this, versionIds as string[]),
    openUpload: (input) => this.uploads.open(input as never),
    grantParts: (input) => this.uploads.grant(input as never),
    grantPieces: (input) => this.uploads.grantPieces(input as never),
    composePart: (input) => this.uploads.composePart(input as never),
    completeUpload: (input) => this.uploads.complete(input as never),
    failImport: ({ requestId, code, text }) => {
      if (!this.requests.has(requestId as string)) throw new RefusalError("RequestSuperseded");
      this.failures.push({ requestId: requestId as string, code: code as string });
      this.advance(requestId as string, "failed", { code: code as string, text: text as string });
      return { recordingId: "rec" };
    },
    failSalvage: ({ requestId, code }) => {
      this.failures.push({ requestId: requestId as string, code: code as string });
      this.salvages = this.salvages.filter((wanted) => wanted.requestId !== requestId);
      return { requestId };
    },
    failCut: ({ requestId, code }) => {
      this.failures.push({ requestId: requestId as string, code: code as string });
      this.cuts = this.cuts?.filter((wanted) => wanted.requestId !== requestId);
      return { requestId };
    },
    askPermits: (input) => this.permits.answer(input as never),
    status: (input) => {
      this.heartbeats.push(input);
      return { serverTime: BigInt(Date.now()) * 1_000_000n };
    },
  };

  #hello({ inventory, ...hello }: FakeHello & { inventory: { digest: string } }): unknown {
    const { number, isAnother } = this.#leases.take({ ...hello, leaseMs: this.leaseMs });
    if (isAnother) this.#reports.startAgain();
    return {
      ...{ orgId: "org_1", settings: this.settings, incarnation: this.incarnation },
      ...(this.site ? { site: this.site } : { projectId: "prj_1", projectName: this.projectName, device: this.device }),
      serverTime: BigInt(Date.now()) * 1_000_000n,
      lease: number,
      longPollSeconds: this.longPollSeconds,
      isInventoryKnown: this.#reports.isListed() && digestInventory(this.files.values()).digest === inventory.digest,
    };
  }

  /** False for a control plane that is too old. */
  takesLocalRequests = true;
}

function ignoreTaken(error: NodeJS.ErrnoException): false {
  if (error.code !== "EADDRINUSE") throw error;
  return false;
}
