import { BlockList, isIP } from "node:net";

/** The proxies through which requests go, as the usual variables of the environment name them. */
export interface Proxies {
  /** For `http:` URLs: `http://[user:password@]host:port`. */
  readonly httpProxy?: string | undefined;
  /** For `https:` URLs. */
  readonly httpsProxy?: string | undefined;
  /**
   * Hosts that are reached without a proxy, separated by commas or spaces: `*`, names with the names below them, addresses
   * and subnets (`10.0.0.0/8`), each with or without a port.
   */
  readonly noProxy?: string | undefined;
}

/** Answers the proxy through which a URL is reached. Answers undefined if it is reached without one, as this machine itself always is. */
export function proxyFor(url: string, { httpProxy, httpsProxy, noProxy = "" }: Proxies): string | undefined {
  const { protocol, hostname, port } = new URL(url);
  const isSecure = protocol === "https:";
  const host = hostname.replace(/^\[|\]$|\.$/g, "").toLowerCase();
  const target = { host, port: port || (isSecure ? "443" : "80") };
  const entries = [...THIS_MACHINE, ...noProxy.split(/[\s,]+/)];
  const isDirect = entries.some((entry) => entry !== "" && isExempt(target, entry));
  return isDirect ? undefined : (isSecure ? httpsProxy : httpProxy) || undefined;
}

const THIS_MACHINE = ["localhost", "127.0.0.0/8", "::1"];

function isExempt({ host, port }: { host: string; port: string }, entry: string): boolean {
  const [, bracketed, plain, onlyPort] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  // An IPv6 address without brackets cannot have a port.
  const name = (bracketed ?? plain ?? entry).toLowerCase().replace(/\.$/, "");
  if (onlyPort !== undefined && onlyPort !== port) return false;
  if (name === "*") return true;
  if (isIP(host) !== 0) return isWithin(host, name);
  const domain = name.replace(/^\*?\./, "");
  return (host === domain && !name.startsWith("*")) || host.endsWith(`.${domain}`);
}

function isWithin(address: string, name: string): boolean {
  const [base = "", bits] = name.split("/");
  const family = isIP(base) === 6 ? "ipv6" : "ipv4";
  const size = family === "ipv6" ? 128 : 32;
  if (isIP(base) === 0 || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= size))) return false;
  const list = new BlockList();
  list.addSubnet(base, bits === undefined ? size : Number(bits), family);
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}
