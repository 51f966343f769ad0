import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export interface TestProxyOptions {
  /** `user:password` that it asks for. */
  readonly credentials?: string;
  /** Names that only it can resolve, with where they are: `host:port`. */
  readonly hosts?: Readonly<Record<string, string>>;
}

export interface TestProxy extends AsyncDisposable {
  readonly url: string;
  /** What passed: `CONNECT host:port` of tunnels, `METHOD URL` of requests that it sent on itself. */
  readonly passed: string[];
  /** What it says of tunnels from now on, in place of making them; `undefined`: it makes them; `hang`: it says nothing. */
  answer: number | "hang" | undefined;
  /** Ends at the next tunnel that is asked for. */
  asked(): Promise<unknown>;
  /** Breaks all connections off. */
  cut(): void;
}

/** An HTTP proxy as companies have them, on a free port. */
export async function startTestProxy({ credentials, hosts = {} }: TestProxyOptions = {}): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) =>
    void sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy()));
  const expected = credentials && `Basic ${Buffer.from(credentials).toString("base64")}`;
  const isAllowed = ({ headers }: IncomingMessage) => (headers["proxy-authorization"] ?? "") === (expected ?? "");
  const server = createServer((incoming, response) => {
    if (!isAllowed(incoming)) return void response.writeHead(407).end();
    const url = new URL(incoming.url ?? "");
    proxy.passed.push(`${incoming.method} ${url}`);
    const [hostname, port] = (hosts[url.host] ?? url.host).split(":");
    const options = { hostname, port: port ?? 80, path: url.pathname + url.search, method: incoming.method };
    const onward = request({ ...options, headers: incoming.headers, agent: false }, (answer) => {
      answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers));
    });
    onward.on("socket", keep).on("error", () => response.destroy());
    incoming.pipe(onward);
  });
  const proxy: TestProxy = {
    url: "",
    passed: [],
    answer: undefined,
    asked: () => once(server, "connect"),
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      proxy.cut();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  server.on("connection", keep).on("connect", (incoming: IncomingMessage, near: Socket) => {
    if (proxy.answer === "hang") return;
    const status = isAllowed(incoming) ? proxy.answer : 407;
    if (status !== undefined) return void near.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    proxy.passed.push(`CONNECT ${incoming.url}`);
    const [host, port] = (hosts[incoming.url ?? ""] ?? incoming.url ?? "").split(":");
    const far = connect({ host, port: Number(port) }, () => {
      near.write("HTTP/1.1 200 Connection established\r\n\r\n");
      far.pipe(near).pipe(far);
    });
    keep(far);
    far.on("close", () => near.destroy());
    near.on("close", () => far.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(proxy, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
