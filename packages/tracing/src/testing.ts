import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as a collector gets it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code: number; readonly message: string };
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
  /** The service of the resource that it came with. */
  readonly service: string;
}

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<ReceivedSpan, "service">[] }[];
  }[];
}

export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly requests: { readonly path: string; readonly headers: Readonly<Record<string, unknown>> }[];
  /** The status that the next requests are answered with. */
  status: number;
}

/** Starts what takes traces as a collector does, on this machine. */
export async function startCollector(): Promise<Collector> {
  const received = { spans: [] as ReceivedSpan[], requests: [] as Collector["requests"], status: 200 };
  const server = createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
    received.requests.push({ path: request.url ?? "", headers: request.headers });
    if (collector.status === 200) received.spans.push(...spansOf(JSON.parse(Buffer.concat(chunks).toString()) as Body));
    response.writeHead(collector.status, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const collector: Collector = Object.assign(received, {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return collector;
}

function spansOf({ resourceSpans }: Body): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = resource.attributes.find(({ key }) => key === "service.name")!.value.stringValue;
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })));
  });
}
