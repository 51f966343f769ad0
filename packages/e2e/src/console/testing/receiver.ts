import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Receiver {
  readonly url: string;
  /** The types of the events that came, also those that were refused. */
  readonly types: readonly string[];
  answersWith(status: number): void;
}

/** A receiver of webhooks on this machine, closed with the test. */
export async function startReceiver(t: { after(close: () => Promise<unknown>): void }): Promise<Receiver> {
  const types: string[] = [];
  let status = 204;
  const server = createServer(async (request, response) => {
    types.push(JSON.parse(await text(request)).type);
    response.writeHead(status).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    types,
    answersWith: (next) => {
      status = next;
    },
  };
}
