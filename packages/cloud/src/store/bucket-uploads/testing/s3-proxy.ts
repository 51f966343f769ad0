import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";

/** The way in which the proxy treats one request; `forward` is the default. */
export type Fault =
  | "forward"
  /** The bucket does what was asked, and the answer is lost. */
  | "lose the answer"
  | "never answer"
  /** The answer's body breaks off in its middle. */
  | "break off"
  | "slow down"
  | { readonly delayMs: number };

type FaultOf = (call: string, headers: IncomingHttpHeaders) => Fault | Promise<Fault>;

export interface S3Proxy extends AsyncDisposable {
  readonly endpoint: string;
  /**
   * Sets the function that decides for all requests from now on; it gets the method and URL of each request, and
   * its headers. The request waits for its answer.
   */
  setFaults(faultOf: FaultOf): void;
  /** Returns the requests since the faults were set. */
  calls(): readonly string[];
}

const SLOW_DOWN = "<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>";

/** Starts a proxy between a store and its bucket. */
export async function proxyS3(target: string): Promise<S3Proxy> {
  let faultOf: FaultOf = () => "forward";
  let calls: string[] = [];
  const server = createServer((incoming, answer) => {
    const call = `${incoming.method} ${incoming.url}`;
    calls.push(call);
    pass({ target, incoming, answer }, faultOf(call, incoming.headers)).catch(() => answer.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setFaults(chosen) {
      faultOf = chosen;
      calls = [];
    },
    calls: () => calls,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Makes a fault for the first `times` calls that the expression matches. */
export function faultFor(expression: RegExp, fault: Fault, times = Number.POSITIVE_INFINITY): (call: string) => Fault {
  let left = times;
  return (call) => (expression.test(call) && left-- > 0 ? fault : "forward");
}

interface Passing {
  readonly target: string;
  readonly incoming: IncomingMessage;
  readonly answer: ServerResponse;
}

async function pass({ target, incoming, answer }: Passing, decided: Fault | Promise<Fault>): Promise<void> {
  const sent = await buffer(incoming);
  const fault = await decided;
  if (fault === "never answer") return;
  if (fault === "slow down") return void answer.writeHead(503, { "Content-Type": "application/xml" }).end(SLOW_DOWN);
  if (typeof fault === "object") await delay(fault.delayMs);
  const onward = request(target, { method: incoming.method!, path: incoming.url!, headers: incoming.headers });
  onward.end(sent);
  const [received] = (await once(onward, "response")) as [IncomingMessage];
  const body = await buffer(received);
  if (fault === "lose the answer") return void answer.destroy();
  answer.writeHead(received.statusCode!, received.headers);
  if (fault !== "break off") return void answer.end(body);
  answer.write(body.subarray(0, body.byteLength >> 1), () => answer.destroy());
}
