import { randomUUID } from "node:crypto";
import { type Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { RequestError } from "@hono/node-server";
import { ApiError } from "../../core/errors.ts";

const HEADERS = { "Content-Type": "application/json", "X-Content-Type-Options": "nosniff" };

/**
 * Requests that Node would refuse by itself, or whose connection it would close silently, get an answer like every other refusal. The
 * connection then ends, because it is not known where the next call begins. An unknown expectation does no harm: its request is answered
 * like any other.
 */
export function refuseUnparsed(server: Server, always: Readonly<Record<string, string>> = {}): void {
  const refuse = (socket: Duplex, error: ApiError) => void socket.end(rawAnswer(error, always));
  server.on("checkExpectation", (request, answer) => server.emit("request", request, answer));
  server.on("connect", (_request, socket) => refuse(socket, newMalformedError("this is no proxy")));
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy();
    refuse(socket, unparsed[error.code ?? ""] ?? newMalformedError("the request is not HTTP"));
  });
}

/** Answers a request that is valid HTTP, but names an impossible host or target. */
export function refuseUnread(error: unknown): Response {
  const refusal =
    error instanceof RequestError ? newMalformedError(error.message) : new ApiError("Internal", "the request failed");
  const { status, headers, body } = partsOf(refusal);
  return new Response(body, { status, headers });
}

const unparsed: Readonly<Record<string, ApiError>> = {
  HPE_HEADER_OVERFLOW: new ApiError("HeadersTooLarge", "the request line and headers are too large together"),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError("HeadersTimeout", "the headers did not come in time"),
};

function newMalformedError(message: string): ApiError {
  return new ApiError("MalformedRequest", message);
}

function partsOf(error: ApiError) {
  const headers = { ...HEADERS, "X-Request-Id": randomUUID() };
  return { status: error.status, headers, body: JSON.stringify(error.toBody()) };
}

function rawAnswer(error: ApiError, always: Readonly<Record<string, string>>): string {
  const { status, headers, body } = partsOf(error);
  const closing = { ...always, ...headers, Connection: "close", "Content-Length": Buffer.byteLength(body) };
  const lines = Object.entries(closing).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, "", body].join("\r\n");
}
