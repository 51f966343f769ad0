import type { Server, Socket } from "node:net";

export interface SocketLimits {
  /** The most connections that may be open. One more ends the oldest, so that a user who holds many does not lock out others. */
  readonly most: number;
  /** How long a connection may last, whatever the other end does. */
  readonly lifeMs: number;
}

/** Limits the connections of a server, because each takes a descriptor that the agent may need for files. Returns a function that ends all. */
export function boundSockets(server: Server, { most, lifeMs }: SocketLimits): () => void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    const timer = setTimeout(() => socket.destroy(), lifeMs).unref();
    sockets.add(socket);
    socket.on("close", () => {
      clearTimeout(timer);
      sockets.delete(socket);
    });
    socket.on("error", () => socket.destroy());
    const [oldest] = sockets;
    if (sockets.size > most) oldest!.destroy();
  });
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}

/** Makes one result at a time, however many callers ask for it: callers that ask while one is made share the next one. */
export function shareNext<T>(make: () => Promise<T>): () => Promise<T> {
  let making: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    next = undefined;
    const made = make();
    making = made;
    const ended = () => {
      if (making === made) making = undefined;
    };
    made.then(ended, ended);
    return made;
  };
  return () => {
    if (!making) return begin();
    next ??= making.then(begin, begin);
    return next;
  };
}
