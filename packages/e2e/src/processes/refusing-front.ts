import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The answer in the control plane's place. */
export interface RefusalError {
  readonly status: number;
  readonly retryAfterSeconds?: number;
}

export interface RefusingFront extends AsyncDisposable {
  readonly url: string;
  /** Called for every request; undefined lets it through. */
  refuse: (method: string, path: string) => RefusalError | undefined;
}

/** Stands before a control plane as a gateway does, and answers in its place if `refuse` says so. Loopback only. */
export async function startRefusingFront(target: () => string): Promise<RefusingFront> {
  const front = { refuse: (() => undefined) as RefusingFront["refuse"] };
  const server = createServer((incoming, outgoing) => {
    const refusal = front.refuse(incoming.method ?? "", incoming.url ?? "");
    if (refusal) answer(refusal, incoming, outgoing);
    else passOn(`${target()}${incoming.url}`, incoming, outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(front, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
}

/** Answers as a gateway does: with a page, not in the service's format. */
function answer(
  { status, retryAfterSeconds }: RefusalError,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  incoming.resume();
  if (retryAfterSeconds !== undefined) outgoing.setHeader("retry-after", String(retryAfterSeconds));
  outgoing.writeHead(status, { "content-type": "text/html" }).end("<h1>Not now</h1>");
}

function passOn(url: string, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { method, headers } = incoming;
  const onward = request(url, { method, headers }, (answered) => {
    outgoing.writeHead(answered.statusCode ?? 502, answered.headers);
    answered.pipe(outgoing);
  });
  onward.on("error", () => outgoing.destroy());
  outgoing.on("close", () => onward.destroy());
  incoming.pipe(onward);
}
