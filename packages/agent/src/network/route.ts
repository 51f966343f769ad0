import { createSocket } from "node:dgram";
import { lookup } from "node:dns/promises";
import { isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

/**
 * Returns the name of the interface through which the system would send to a URL's host; undefined while there is no route, or the
 * interface has no name. A datagram socket is connected to find it, and nothing is sent.
 */
export async function findInterface(url: string): Promise<string | undefined> {
  const { hostname } = new URL(url);
  try {
    const { address } = await lookup(hostname.replace(/^\[|\]$/g, ""));
    return interfaceOf(await localAddressTo(address));
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code === "string") return undefined;
    throw error;
  }
}

const DISCARD_PORT = 9;

async function localAddressTo(address: string): Promise<string> {
  const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject).connect(DISCARD_PORT, address, resolve);
    });
    return socket.address().address;
  } finally {
    socket.close();
  }
}

function interfaceOf(address: string): string | undefined {
  const [plain] = address.split("%");
  return Object.entries(networkInterfaces()).find(([, all]) => all?.some((known) => known.address === plain))?.[0];
}
