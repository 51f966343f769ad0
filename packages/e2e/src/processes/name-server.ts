import { createSocket } from "node:dgram";
import { once } from "node:events";

export interface NameServer extends AsyncDisposable {
  /** The answer from now on, for any name: an IPv4 address, or one of these reasons for none. */
  answer: string | "no such name" | "failure" | "silence";
}

const PORT = 53;
const TYPE_A = 1;
const HEADER_BYTES = 12;
const REPLY_FLAGS = 0x8180;
const codes: Readonly<Record<string, number>> = { failure: 2, "no such name": 3 };

/** Starts a DNS server over UDP for one name (RFC 1035). */
export async function startNameServer(address: string): Promise<NameServer> {
  const socket = createSocket("udp4");
  const server: NameServer = {
    answer: "silence",
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, "close");
    },
  };
  socket.on("message", (query, { address: asker, port }) => {
    if (server.answer !== "silence") socket.send(reply(query, server.answer), port, asker);
  });
  socket.bind(PORT, address);
  await once(socket, "listening");
  return server;
}

function reply(query: Buffer, answer: string): Buffer {
  const nameEnd = query.indexOf(0, HEADER_BYTES) + 1;
  const question = query.subarray(HEADER_BYTES, nameEnd + 4);
  const code = codes[answer];
  const hasAnswer = code === undefined && query.readUInt16BE(nameEnd) === TYPE_A;
  const header = [query.readUInt16BE(0), REPLY_FLAGS | (code ?? 0), 1, hasAnswer ? 1 : 0, 0, 0];
  return Buffer.concat([words(header), question, ...(hasAnswer ? [addressRecord(answer)] : [])]);
}

/** Makes the record for the name in the question, valid for a second. */
function addressRecord(address: string): Buffer {
  const [nameAt, type, internet, seconds, length] = [0xc000 | HEADER_BYTES, TYPE_A, 1, 1, 4];
  return Buffer.concat([
    words([nameAt, type, internet, 0, seconds, length]),
    Buffer.from(address.split(".").map(Number)),
  ]);
}

function words(values: readonly number[]): Buffer {
  return Buffer.from(values.flatMap((value) => [value >> 8, value & 0xff]));
}
