import { chmodSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { boundSockets, type SocketLimits } from "../status/bound-sockets.ts";
import { AgentSilentError, openSocketAddress } from "../status/socket.ts";

const NAME = "control.sock";
/** The largest request: it holds more paths than any command line. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;
/** The limit for all requests together that are being received. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;
const REQUEST_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 60_000;
const limits: SocketLimits = { most: 32, lifeMs: REQUEST_TIMEOUT_MS + ANSWER_TIMEOUT_MS };

/** A request failed between a command and the agent. The message says what to do. */
export class ControlRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ControlRefusedError";
  }
}

/**
 * Takes requests of users who may change something: one JSON text per connection, which ends with the sender's side, and one answer. Only
 * root and the daemon's user can connect (mode 0600); the status has another socket, because Node cannot see who connects. The state
 * directory's lock must be held.
 */
export async function serveControl(
  stateDir: string,
  act: (request: unknown) => Promise<unknown>,
): Promise<AsyncDisposable> {
  const address = openSocketAddress(stateDir, NAME);
  rmSync(address.path, { force: true }); // An agent that was killed left it.
  const held = { bytes: 0 };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    answer(socket, act, held).catch((error: Error) => socket.destroy(error));
  });
  const endAll = boundSockets(server, limits);
  await listenPrivately(server, address.path);
  return {
    async [Symbol.asyncDispose]() {
      endAll();
      await new Promise((resolve) => server.close(resolve));
      address[Symbol.dispose]();
    },
  };
}

/** The umask holds while `listen` makes the socket, so that there is no moment at which others could connect. */
async function listenPrivately(server: ReturnType<typeof createServer>, path: string): Promise<void> {
  const listening = new Promise<void>((resolve, reject) => {
    server.once("error", reject).once("listening", resolve);
  });
  const mask = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(mask);
  }
  await listening;
  chmodSync(path, 0o600);
}

type Act = (request: unknown) => Promise<unknown>;

async function answer(socket: Socket, act: Act, held: Held): Promise<void> {
  const text = await readRequest(socket, held);
  socket.end(JSON.stringify(await act(parse(text)).then((value) => ({ value }), toError)));
}

interface Held {
  bytes: number;
}

/** Throws where this request or all requests together are too large, and where it takes too long. */
async function readRequest(socket: Socket, held: Held): Promise<string> {
  const late = setTimeout(() => socket.destroy(new Error("the request takes too long")), REQUEST_TIMEOUT_MS);
  const pieces: Buffer[] = [];
  let receivedBytes = 0;
  try {
    for await (const piece of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      receivedBytes += piece.byteLength;
      held.bytes += piece.byteLength;
      if (receivedBytes > MAX_REQUEST_BYTES || held.bytes > MAX_HELD_BYTES)
        throw new RangeError("the request is too large");
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString();
  } finally {
    clearTimeout(late);
    held.bytes -= receivedBytes;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function toError(error: Error): { error: string } {
  return { error: error.message };
}

/** Sends a request to the running agent; undefined where none runs. Throws {@link ControlRefusedError} and {@link AgentSilentError}. */
export async function askControl(stateDir: string, request: unknown, timeoutMs = ANSWER_TIMEOUT_MS): Promise<unknown> {
  try {
    using address = openSocketAddress(stateDir, NAME);
    const socket = createConnection({ path: address.path, allowHalfOpen: true });
    socket.end(JSON.stringify(request));
    const text = await readAll(socket, timeoutMs);
    if (text === "") return undefined;
    const { value, error } = JSON.parse(text) as { value?: unknown; error?: string };
    if (error !== undefined) throw new ControlRefusedError(error);
    return value;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (["ENOENT", "ECONNREFUSED", "ECONNRESET", "ENOTDIR", "EPIPE"].includes(code)) return undefined;
    if (code !== "EACCES" && code !== "EPERM") throw error;
    throw new ControlRefusedError(
      `only root and the user that the agent of ${stateDir} runs as may do this; try it with sudo`,
    );
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
