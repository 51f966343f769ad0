import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** The contents of one request. */
export interface Received {
  /** When the whole request had come, by `performance.now()`. */
  readonly atMs: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The parsed body. */
  readonly event: Readonly<Record<string, unknown>> & { readonly type: string; readonly webhookEventId: string };
}

export interface Receiver {
  readonly url: string;
  readonly received: readonly Received[];
  typesReceived(): string[];
}

/** Starts a receiver on this machine; `answer` is called once for each request, and says 204 if it is not given. */
export async function startReceiver(
  t: { after(close: () => void): void },
  answer: (response: ServerResponse) => void = (response) => void response.writeHead(204).end(),
): Promise<Receiver> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    received.push({ atMs: performance.now(), headers: request.headers, body, event: JSON.parse(body) });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    received,
    typesReceived: () => received.map(({ event }) => event.type),
  };
}
