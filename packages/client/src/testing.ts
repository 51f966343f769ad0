import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Certificate } from "./make-certificate.ts";

export { type Authority, type Certificate, createAuthority } from "./make-certificate.ts";
export { startTestProxy, type TestProxy } from "./test-proxy.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** Starts a server on a free port for one test; with a certificate it speaks TLS. */
export async function serve(handler: Handler, certificate?: Certificate) {
  const listener = (request: IncomingMessage, response: ServerResponse) => void handler(request, response);
  const server = certificate ? createTlsServer({ ...certificate }, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `${certificate ? "https" : "http"}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "x-request-id": "r-1" }).end(JSON.stringify(body));
}
