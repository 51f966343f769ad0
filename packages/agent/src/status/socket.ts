import { closeSync, openSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { shareSocket } from "../state/share-state.ts";
import { boundSockets, type SocketLimits } from "./bound-sockets.ts";
import type { StatusDocument } from "./status-schema.ts";

/** The longest path of a socket on every system, in bytes. */
const MAX_SOCKET_PATH_BYTES = 103;

/** The command waits for 5 s, and reads at once, so ten seconds are enough. */
const limits: SocketLimits = { most: 32, lifeMs: 10_000 };

/** Answers every connection with the status as one JSON text, and reads nothing. The state directory's lock must be held. */
export async function serveStatus(
  stateDir: string,
  takeStatus: () => Promise<StatusDocument>,
): Promise<AsyncDisposable> {
  const address = openSocketAddress(stateDir);
  rmSync(address.path, { force: true }); // An agent that was killed left it.
  const server = createServer((socket) => {
    takeStatus().then(
      (status) => socket.end(JSON.stringify(status)),
      (error: Error) => socket.destroy(error),
    );
  });
  const endAll = boundSockets(server, limits);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(address.path, resolve);
  });
  shareSocket(address.path, stateDir);
  return {
    async [Symbol.asyncDispose]() {
      endAll();
      await new Promise((resolve) => server.close(resolve));
      address[Symbol.dispose]();
    },
  };
}

/** An agent runs and does not answer. */
export class AgentSilentError extends Error {
  constructor(timeoutMs: number) {
    super(`the agent runs but does not answer within ${timeoutMs / 1000} s`);
    this.name = "AgentSilentError";
  }
}

/** Asks the running agent for its status; undefined where none runs. Throws {@link AgentSilentError}. */
export async function askStatus(stateDir: string, timeoutMs = 5000): Promise<StatusDocument | undefined> {
  try {
    using address = openSocketAddress(stateDir);
    return JSON.parse(await readAll(createConnection(address.path), timeoutMs)) as StatusDocument;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined; // The agent ended while it answered.
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (["ENOENT", "ECONNREFUSED", "ECONNRESET", "ENOTDIR", "EPIPE"].includes(code)) return undefined;
    throw error;
  }
}

async function readAll(socket: Socket, timeoutMs: number): Promise<string> {
  socket.setEncoding("utf8").setTimeout(timeoutMs, () => {
    socket.destroy(new AgentSilentError(timeoutMs));
  });
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

/** A path that is too long for a socket is reached through a descriptor of its directory. */
export function openSocketAddress(stateDir: string, name = "agent.sock"): Disposable & { readonly path: string } {
  const path = join(stateDir, name);
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return { path, [Symbol.dispose]() {} };
  if (process.platform !== "linux")
    throw new Error(`${stateDir} is too long for a socket; choose a shorter DOWNLINK_STATE_DIR`);
  const directory = openSync(stateDir, "r");
  return { path: `/proc/self/fd/${directory}/${name}`, [Symbol.dispose]: () => closeSync(directory) };
}
