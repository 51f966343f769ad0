import { ApiCallError, type Client, createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { RefusedError, UsageError } from "../failures/failures.ts";
import { type Login, loginFile, readLogin } from "./kept-login.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The control plane that a command speaks with. */
export interface Service extends AsyncDisposable {
  /** Its address, without a slash at the end. */
  readonly url: string;
  readonly client: Client;
  /** Carries bytes to and from signed links. */
  readonly dispatcher: ReturnType<typeof undiciTransport>["dispatcher"];
  /** Aborted when a signal ends the program. */
  readonly signal: AbortSignal;
}

interface Opening {
  /** From the command line. */
  readonly url: string | undefined;
  readonly environment: Environment;
  readonly signal: AbortSignal;
}

const RETRIES = 3;

/** Opens the service. Throws {@link UsageError} where the control plane or its key is not known. */
export function openService({ url, environment, signal }: Opening): Service {
  const login = chooseLogin(url ?? (environment.DOWNLINK_API_URL || undefined), environment);
  const transport = undiciTransport({ way: { proxies: proxiesOf(environment) } });
  const client = createClient({ baseUrl: login.url, token: login.apiKey, transport, retries: RETRIES });
  const explain = (error: unknown) => {
    throw explainEnd(error, login);
  };
  return {
    url: login.url,
    client: {
      call: (operation, input, options) => client.call(operation, input, { signal, ...options }).catch(explain),
      callWithHeaders: (operation, input, options) =>
        client.callWithHeaders(operation, input, { signal, ...options }).catch(explain),
    },
    dispatcher: transport.dispatcher,
    signal,
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
}

/** A session ends after a time, or when a member ends it. There is nothing to refresh it with. */
function explainEnd(error: unknown, { url, isSession }: Login): unknown {
  if (!isSession || !(error instanceof ApiCallError) || error.status !== 401) return error;
  return new RefusedError(`The session that dl login began has ended. Sign in again: dl login ${url}`);
}

/** A key that was kept for one address is never sent to another. */
function chooseLogin(url: string | undefined, environment: Environment): Login {
  const kept = readLogin(loginFile(environment));
  const chosen = url === undefined ? kept?.url : checkUrl(url);
  if (chosen === undefined) throw new UsageError("No control plane is known. Log in first: dl login URL");
  if (environment.DOWNLINK_API_KEY) return { url: chosen, apiKey: environment.DOWNLINK_API_KEY };
  if (kept?.url === chosen && kept.apiKey) return kept;
  throw new UsageError(`There is no API key for ${chosen}. Log in first: dl login ${chosen}`);
}

/** Checks a URL and returns it as it is kept: without a slash at its end. Throws {@link UsageError}. */
export function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash)
    return url.href.replace(/\/+$/, "");
  throw new UsageError(`${text} is not an address of a control plane, such as https://downlink.example.org`);
}

/** Returns the proxies of the usual variables, in lower case first, as other programs read them. */
export function proxiesOf(environment: Environment) {
  const read = (name: string) => environment[name] || environment[name.toUpperCase()];
  return { httpProxy: environment.http_proxy, httpsProxy: read("https_proxy"), noProxy: read("no_proxy") };
}
