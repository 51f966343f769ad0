import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { type Proxies, proxyFor } from "./proxy-for.ts";
import { Agent, Pool, ProxyAgent, proxyPool } from "./undici-request.ts";

/** The way by which requests leave this machine. */
export interface WayOut {
  readonly proxies?: Proxies | undefined;
  /** Certificates in PEM that are trusted besides Node's own roots. */
  readonly extraRoots?: readonly string[] | undefined;
}

const CONNECT_TIMEOUT_MS = 15_000;
/** The caller decides by the signal how long an answer may take. */
const patient = { headersTimeout: 0, bodyTimeout: 0 };

/** How long an unused connection stays open: after a burst of calls only those remain on which something waits. */
const KEPT_IDLE_MS = 5000;
const brief = { keepAliveTimeout: KEPT_IDLE_MS, keepAliveMaxTimeout: KEPT_IDLE_MS };

/** Keeps its own connections to each host, directly or through the proxy that is set for it. */
export class RoutedAgent extends Agent {
  readonly #proxies: Proxies;

  constructor({ proxies = {}, extraRoots = [] }: WayOut = {}) {
    const connect = { timeout: CONNECT_TIMEOUT_MS, secureContext: trust(extraRoots) };
    super({
      ...patient,
      ...brief,
      connect,
      factory: (origin, options) => openRoute(String(origin), { proxies, connect, options }),
    });
    this.#proxies = proxies;
  }

  /** Returns the proxy's URL without user and password, to be shown; undefined: the URL is reached without a proxy. */
  proxyShownFor(url: string): string | undefined {
    const proxy = proxyFor(url, this.#proxies);
    return proxy && new URL(proxy).origin;
  }
}

interface Route {
  readonly proxies: Proxies;
  readonly connect: { readonly timeout: number; readonly secureContext: SecureContext | undefined };
  readonly options: object;
}

function openRoute(origin: string, { proxies, connect, options }: Route) {
  const uri = proxyFor(origin, proxies);
  if (uri === undefined) return new Pool(origin, { ...options, connect });
  return new ProxyAgent({
    ...patient,
    ...brief,
    uri,
    requestTls: connect,
    proxyTls: connect,
    // A proxy that accepts the connection and never says whether the tunnel is open is given up as a host would be.
    clientFactory: (proxy, given) => proxyPool(proxy, { ...given, headersTimeout: CONNECT_TIMEOUT_MS }),
  });
}

/** The context is made once: parsing 150 roots at each connection would cost more than the handshake. */
function trust(extraRoots: readonly string[]): SecureContext | undefined {
  return extraRoots.length === 0
    ? undefined
    : createSecureContext({ ca: [...getCACertificates("default"), ...extraRoots] });
}
