import type { Server, Socket } from "node:net";

export interface SocketLimits {
  /** At once; one more ends the oldest, so that who holds many locks nobody out. */
  readonly most: number;
  /** Whoever is at the other end, and whatever it sends or reads. */
  readonly lifeMs: number;
}

/** Each connection takes a descriptor, of which the agent needs some for its files. Answers what ends all of them. */
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

/** However many ask for it at once, it is made once at a time: who comes while it is made is told by the next one. */
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
