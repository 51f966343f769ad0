import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A mark in a request's body; a number with as many digits replaces it, and rises with each request. */
export const SEQUENCE_MARK = "SEQUENCE_MARK";

export interface Answer {
  readonly status: number;
  /** The status line and the headers, unchanged. */
  readonly head: string;
  readonly body: string;
}

const HEAD_END = "\r\n\r\n";
const LAST_CHUNK = Buffer.from("0\r\n\r\n");

/** HTTP/1.1 over one socket, one request at a time, with as little work as possible, because the servers need the processor. */
export class RawConnection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #answered: ((answer: Answer) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;
  #sequence = Date.now();

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (piece) => this.#receive(piece));
    socket.on("error", (error) => this.#failed?.(error));
    socket.on("close", () => this.#failed?.(new Error("the server closed the connection")));
  }

  /** Uses an address of its own, if one is given. */
  static async open(port: number, localAddress?: string): Promise<RawConnection> {
    const socket = connect({ port, host: "127.0.0.1", ...(localAddress !== undefined && { localAddress }) });
    await once(socket, "connect");
    return new RawConnection(socket);
  }

  async send(request: string): Promise<Answer> {
    if (this.#socket.destroyed) throw new Error("the server closed the connection"); // while no request was open
    this.#socket.write(request.replace(SEQUENCE_MARK, () => String(++this.#sequence)));
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
    });
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #receive(piece: Buffer): void {
    this.#received = this.#received.length === 0 ? piece : Buffer.concat([this.#received, piece]);
    const answer = readAnswer(this.#received);
    if (!answer) return;
    this.#received = Buffer.alloc(0);
    this.#answered?.(answer);
  }
}

/** Returns undefined while a part is missing. */
function readAnswer(received: Buffer): Answer | undefined {
  const headEnd = received.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const head = received.toString("latin1", 0, headEnd);
  const body = received.subarray(headEnd + HEAD_END.length);
  const status = Number(head.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length));
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  if (length !== undefined) return body.length < Number(length) ? undefined : { status, head, body: body.toString() };
  if (status === 204) return { status, head, body: "" };
  return body.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK) ? { status, head, body: joinChunks(body) } : undefined;
}

function joinChunks(body: Buffer): string {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const lineEnd = body.indexOf("\r\n", at);
    const size = Number.parseInt(body.toString("latin1", at, lineEnd), 16);
    pieces.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(pieces).toString();
}
