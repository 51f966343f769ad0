import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Metrics } from "./metrics.ts";

/** Counts the bytes of a server's connections when the metrics are read, so that a long upload shows before it ends. */
export function countTraffic(server: Server, { receivedBytes, sentBytes, httpConnections, observers }: Metrics): void {
  const counted = new Map<Socket, { read: number; written: number }>();
  server.on("connection", (socket) => {
    counted.set(socket, { read: 0, written: 0 });
    socket.once("close", () => {
      count(socket);
      counted.delete(socket);
    });
  });
  observers.push(() => {
    for (const socket of counted.keys()) count(socket);
    httpConnections.set(counted.size);
  });

  function count(socket: Socket): void {
    const before = counted.get(socket)!;
    const now = { read: socket.bytesRead, written: socket.bytesWritten };
    receivedBytes.inc(now.read - before.read);
    sentBytes.inc(now.written - before.written);
    counted.set(socket, now);
  }
}
