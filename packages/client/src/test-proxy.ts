import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export interface TestProxyOptions {
  /** The `user:password` that it demands. */
  readonly credentials?: string;
  /** Names that only the proxy can resolve, with their addresses: `host:port`. */
  readonly hosts?: Readonly<Record<string, string>>;
}

export interface TestProxy extends AsyncDisposable {
  readonly url: string;
  /** Everything that passed through: `CONNECT host:port` for tunnels, `METHOD URL` for requests that it forwarded itself. */
  readonly passed: string[];
  /** How it answers requests for tunnels from now on; `undefined`: it makes the tunnels; `hang`: it answers nothing. */
  answer: number | "hang" | undefined;
  /** Resolves at the next request for a tunnel. */
  asked(): Promise<unknown>;
  /** Breaks all connections off. */
  cut(): void;
}

/** Starts an HTTP proxy like those of companies, on a free port. */
export async function startTestProxy(options: TestProxyOptions = {}): Promise<TestProxy> {
  const proxy = new LocalProxy(options);
  await proxy.listen();
  return proxy;
}

class LocalProxy implements TestProxy {
  url = "";
  readonly passed: string[] = [];
  answer: TestProxy["answer"];
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  readonly #hosts: Readonly<Record<string, string>>;
  /** The credentials that a caller must send. */
  readonly #authorization: string;

  constructor({ credentials, hosts = {} }: TestProxyOptions) {
    this.#hosts = hosts;
    this.#authorization = credentials ? `Basic ${Buffer.from(credentials).toString("base64")}` : "";
    this.#server = createServer((incoming, response) => this.#forward(incoming, response));
    this.#server.on("connection", (socket) => this.#keep(socket));
    this.#server.on("connect", (incoming, near: Socket) => this.#openTunnel(incoming, near));
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  asked(): Promise<unknown> {
    return once(this.#server, "connect");
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Forwards a plain request. */
  #forward(incoming: IncomingMessage, response: ServerResponse): void {
    if (!this.#isAllowed(incoming)) return void response.writeHead(407).end();
    const url = new URL(incoming.url ?? "");
    this.passed.push(`${incoming.method} ${url}`);
    const [hostname, port] = this.#placeOf(url.host);
    const options = { hostname, port: port ?? 80, path: url.pathname + url.search, method: incoming.method };
    const onward = request({ ...options, headers: incoming.headers, agent: false }, (answer) => {
      answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers));
    });
    onward.on("socket", (socket) => this.#keep(socket)).on("error", () => response.destroy());
    incoming.pipe(onward);
  }

  #openTunnel(incoming: IncomingMessage, near: Socket): void {
    if (this.answer === "hang") return;
    const status = this.#isAllowed(incoming) ? this.answer : 407;
    if (status !== undefined) return void near.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    this.passed.push(`CONNECT ${incoming.url}`);
    const [host, port] = this.#placeOf(incoming.url ?? "");
    const far = connect({ host, port: Number(port) }, () => {
      near.write("HTTP/1.1 200 Connection established\r\n\r\n");
      far.pipe(near).pipe(far);
    });
    this.#keep(far);
    far.on("close", () => near.destroy());
    near.on("close", () => far.destroy());
  }

  #isAllowed({ headers }: IncomingMessage): boolean {
    return (headers["proxy-authorization"] ?? "") === this.#authorization;
  }

  /** Returns host and port; the proxy may know another place for the name than anybody else. */
  #placeOf(host: string): string[] {
    return (this.#hosts[host] ?? host).split(":");
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket)).on("error", () => socket.destroy());
  }
}
