import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer, type Server, type TLSSocket } from "node:tls";
import { type Authority, type Certificate, createAuthority } from "@downlink/client/testing";

export type TlsTrouble = "none" | "expired" | "wrong name" | "unknown authority" | "cut handshake" | "plain HTTP";

export interface TlsFront extends AsyncDisposable {
  /** Begins to pass on everything to the target; returns its own URL. */
  standBefore(target: string): string;
  /** Applies the fault from now on, to all connections: existing ones end. */
  suffer(trouble: TlsTrouble): void;
  /** Returns how many bytes clients sent to it that trusted a certificate which they had to refuse. */
  betrayedBytes(): number;
}

const HOST = "localhost";
const DAY_MS = 86_400_000;

/** Ends TLS before a plain target, as a reverse proxy does; its authority's certificate is written to the file. Loopback only. */
export async function startTlsFront(authorityFile: string): Promise<TlsFront> {
  const authority = createAuthority("Robots");
  await writeFile(authorityFile, authority.cert);
  const { keep, cut } = keepSockets();
  let trouble: TlsTrouble = "none";
  let onward = { host: "127.0.0.1", port: 0 };
  let betrayed = 0;
  const passOn = (near: Socket) => join(near, keep(connect(onward)));
  const trusted = serveTls(authority.issue(HOST), passOn);
  const untrusted = serveUntrusted(authority, (bytes) => {
    betrayed += bytes;
  });
  const server = createServer((near) => {
    keep(near);
    if (trouble === "cut handshake") near.once("data", () => near.destroy());
    else if (trouble === "plain HTTP") passOn(near);
    else (untrusted[trouble] ?? trusted).emit("connection", near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    standBefore(target) {
      const { hostname: host, port } = new URL(target);
      onward = { host, port: Number(port) };
      return `https://${HOST}:${(server.address() as AddressInfo).port}`;
    },
    suffer(next) {
      trouble = next;
      cut();
    },
    betrayedBytes: () => betrayed,
    async [Symbol.asyncDispose]() {
      server.close();
      cut();
    },
  };
}

function keepSockets() {
  const sockets = new Set<Socket>();
  return {
    keep(socket: Socket): Socket {
      sockets.add(socket);
      return socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    },
    cut(): void {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function serveUntrusted(
  authority: Authority,
  onBytes: (bytes: number) => void,
): Readonly<Partial<Record<TlsTrouble, Server>>> {
  const listen = (near: Socket) => void near.on("data", ({ length }) => onBytes(length));
  return {
    expired: serveTls(authority.issue(HOST, new Date(Date.now() - DAY_MS)), listen),
    "wrong name": serveTls(authority.issue("elsewhere.example"), listen),
    "unknown authority": serveTls(createAuthority("Somebody").issue(HOST), listen),
  };
}

/** Each fault has a server of its own: sessions are not resumed at another one, so that its certificate is checked. */
function serveTls({ cert, key }: Certificate, onSecure: (socket: TLSSocket) => void): Server {
  const server = createTlsServer({ cert, key }, (socket) => {
    socket.on("error", () => socket.destroy());
    onSecure(socket);
  });
  return server.on("tlsClientError", (_, socket) => socket.destroy());
}

function join(near: Socket, far: Socket): void {
  near.pipe(far).pipe(near);
  near.on("close", () => far.destroy());
  far.on("close", () => near.destroy());
}
