// A message or a user may name an address that leads into the operator's own network, or to this machine. So only https is spoken, to
// addresses of the public internet, and the connection is made to the very address that was checked: a name that leads elsewhere the second
// time gains nothing. Networks that the operator allows are the exception.

import { lookup as lookUp } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import ipaddr from "ipaddr.js";
import { isTrusted as isWithin, type Network } from "../limits/client-address.ts";

/** The address may not be requested, or did not answer as it should. */
export class PublicFetchError extends Error {
  override readonly name = "PublicFetchError";
}

/** All IPv6 addresses of the public internet begin so; those beside them stand for IPv4 addresses, or for nothing. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/** Why an address of plain http is refused. */
export const PLAIN_REFUSED = "plain http is for the networks of DOWNLINK_WEBHOOK_NETWORKS alone";
const LOOK_UP_MS = 5000;

/** A host that is written as an address is never looked up, so it is checked here. Plain http is for allowed networks only. */
export function requireAllowedUrl(url: URL, allowed: readonly Network[] = []): void {
  const { protocol, hostname, host, username, password } = url;
  const isPlain = protocol === "http:" && allowed.length > 0;
  if (protocol !== "https:" && !isPlain) throw new PublicFetchError(`${host}: only https is requested`);
  if (username !== "" || password !== "") throw new PublicFetchError(`${host}: the address holds a password`);
  const address = stripBrackets(hostname);
  if (isIP(address) !== 0) requireAllowed(address, { allowed, isPublic: !isPlain });
}

/**
 * Does the same for an address that is to be kept, and looks up where a name leads if it is of plain http: one that leads nowhere now is
 * refused as one that leads elsewhere.
 */
export async function requireKeepableUrl(url: URL, allowed: readonly Network[], resolve = lookUp): Promise<void> {
  requireAllowedUrl(url, allowed);
  const name = stripBrackets(url.hostname);
  if (url.protocol === "https:" || isIP(name) !== 0) return;
  const look = lookUpAllowed({ allowed, isPublic: false }, resolve);
  const found = new Promise<boolean>((answer) => look(name, { all: true }, (error) => answer(error === null)));
  const isFound = await Promise.race([found, delay(LOOK_UP_MS, false, { ref: false })]);
  if (!isFound) throw new PublicFetchError(`${url.host}: ${PLAIN_REFUSED}, and the name does not lead there`);
}

function stripBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

interface Rule {
  readonly allowed: readonly Network[];
  /** Whether the public internet is allowed, too. */
  readonly isPublic: boolean;
}

/** Makes a function that looks a name up as Node does, but refuses the name if any of its addresses is not allowed. */
export function lookUpAllowed(rule: Rule = { allowed: [], isPublic: true }, resolve = lookUp): LookupFunction {
  return (host, options, answer) => {
    resolve(host, { ...options, all: true }, (error, found) => {
      if (error) return answer(error, "");
      try {
        for (const { address } of found) requireAllowed(address, rule);
      } catch (refused) {
        return answer(refused as Error, "");
      }
      const [first] = found;
      if (options.all) answer(null, found);
      else answer(null, first!.address, first!.family);
    });
  };
}

function requireAllowed(address: string, { allowed, isPublic }: Rule): void {
  if (isWithin(address, allowed) || (isPublic && isOfInternet(address))) return;
  throw new PublicFetchError(
    isPublic ? `${address} is no address of the public internet` : `${address}: ${PLAIN_REFUSED}`,
  );
}

function isOfInternet(text: string): boolean {
  const address = ipaddr.process(text);
  return address.range() === "unicast" && (address.kind() === "ipv4" || address.match(GLOBAL_IPV6 as never));
}
