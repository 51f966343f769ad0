import type { IncomingMessage, ServerResponse } from "node:http";
import { api, type ErrorCode, errorCodes, type Operation } from "@downlink/protocol";
import { RefusalError } from "./refusal.ts";

/** A fault of one request, instead of its answer or before it. */
export type Fault =
  | { readonly kind: "answer"; readonly status: number; readonly code?: ErrorCode; readonly retryAfterSeconds?: number }
  | { readonly kind: "html"; readonly status: number }
  /** The answer is a success with this text as its body. */
  | { readonly kind: "body"; readonly text: string }
  /** The connection breaks off after some bytes of the body. */
  | { readonly kind: "cut"; readonly afterBytes?: number }
  /** The request is carried out, and its answer is lost. */
  | { readonly kind: "loseAnswer" }
  | { readonly kind: "hang" };

export interface FakeRequest {
  /** Name of the operation in the contract, or `put` for a part, `putPiece` for a piece. */
  readonly name: string;
  readonly path: string;
}

export interface Received {
  readonly request: IncomingMessage;
  readonly url: URL;
  /** Undefined where the contract does not know the operation. */
  readonly found: FoundOperation | undefined;
}

export interface FoundOperation {
  readonly name: string;
  readonly params: Readonly<Record<string, string>>;
  readonly operation?: Operation;
}

export function matchOperation(method: string | undefined, path: string): FoundOperation | undefined {
  for (const [name, operation] of Object.entries(api.edge) as [string, Operation][]) {
    const pattern = operation.path.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)");
    const match = new RegExp(`^${pattern}$`).exec(path);
    if (!match || operation.method.toUpperCase() !== method) continue;
    const params = Object.fromEntries(
      Object.entries(match.groups ?? {}).map(([key, value]) => [key, decodeURIComponent(value)]),
    );
    return { name, params, operation };
  }
  return undefined;
}

export async function applyFault(
  fault: Exclude<Fault, { kind: "loseAnswer" }>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (fault.kind === "hang") return;
  if (fault.kind === "cut") {
    const { socket } = request;
    let left = fault.afterBytes ?? 0;
    for await (const chunk of request) {
      left -= (chunk as Buffer).length;
      if (left < 0) break;
    }
    socket.destroy();
    return;
  }
  request.resume();
  if (fault.kind === "html") {
    response.writeHead(fault.status, { "content-type": "text/html" }).end("<h1>Welcome to the hotel</h1>");
    return;
  }
  if (fault.kind === "body") {
    response.writeHead(200, { "content-type": "application/json" }).end(fault.text);
    return;
  }
  const code = fault.code ?? "Unavailable";
  if (fault.retryAfterSeconds !== undefined) response.setHeader("retry-after", String(fault.retryAfterSeconds));
  answerJson(response, fault.status, { error: errorCodes[code].meaning, code });
}

export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body ?? {}));
}

export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** The agent went away in the middle of its request. */
export function isCutOff(error: unknown, request: IncomingMessage): boolean {
  return (error as NodeJS.ErrnoException).code === "ECONNRESET" || (request.destroyed && !request.complete);
}

/** Anything but a refusal is a mistake of the test, and ends it. */
export function refuse(response: ServerResponse, error: unknown): void {
  if (!(error instanceof RefusalError)) throw error;
  if (error.code === "LeaseHeldElsewhere") response.setHeader("retry-after", "1");
  answerJson(response, error.status, { error: error.message, code: error.code });
}
