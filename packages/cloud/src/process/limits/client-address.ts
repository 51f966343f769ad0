import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** A range of addresses whose `X-Forwarded-For` counts. */
export type Network = [Address, number];

/** Reads a list of CIDRs and single addresses, separated by commas. Throws an Error that names the invalid one. */
export function parseNetworks(text: string): Network[] {
  const given = text.split(",").map((entry) => entry.trim());
  return given.filter((entry) => entry !== "").map(parseNetwork);
}

function parseNetwork(text: string): Network {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!ipaddr.isValid(text) || !/[.:]/.test(text)) throw new Error(`"${text}" is no address and no CIDR`);
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

/** No deployment has more proxies in a row; addresses beyond them are not looked at. */
const MAX_HOPS = 20;

/**
 * Returns the address of the client as it is counted: an IPv4 address, or the /64 of an IPv6 one, because a client that has one address of
 * a /64 has all of them. Behind trusted proxies it is the right-most address of `X-Forwarded-For` that is no trusted proxy, because any
 * client may have written the addresses to the left of it. If the header names no such address, it is that of a proxy.
 */
export function clientAddress(
  remoteAddress: string | undefined,
  forwardedFor: string | undefined,
  proxies: readonly Network[],
): string {
  const hops = [...(forwardedFor?.split(",").slice(-MAX_HOPS) ?? []), remoteAddress ?? ""].reverse();
  let counted = "unknown";
  for (const hop of hops) {
    const address = parseAddress(hop.trim());
    if (!address) break;
    counted = toCountedNetwork(address);
    if (!isOf(address, proxies)) break;
  }
  return counted;
}

export function isTrusted(remoteAddress: string | undefined, proxies: readonly Network[]): boolean {
  const address = parseAddress(remoteAddress ?? "");
  return address !== undefined && isOf(address, proxies);
}

/** Some proxies add a port: `1.2.3.4:5678`, `[2001:db8::1]:5678`. */
function parseAddress(text: string): Address | undefined {
  const bare = /^\[(?<v6>[^\]]+)\](:\d+)?$/.exec(text)?.groups?.v6 ?? text.replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1");
  return ipaddr.isValid(bare) && /[.:]/.test(bare) ? ipaddr.process(bare) : undefined;
}

function isOf(address: Address, networks: readonly Network[]): boolean {
  return networks.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network as never, bits as never),
  );
}

function toCountedNetwork(address: Address): string {
  if (address.kind() === "ipv4") return address.toString();
  return `${(address as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":")}::/64`;
}
