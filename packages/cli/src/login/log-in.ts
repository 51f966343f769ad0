import { ApiCallError, type Client, createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { api, type Operation, SignInWays, sessionRoutes } from "@downlink/protocol";
import { askHidden } from "@downlink/terminal/ask-hidden";
import { printable } from "@downlink/terminal/printable";
import { readLine } from "@downlink/terminal/read-line";
import { RefusedError, UsageError } from "../failures/failures.ts";
import { loginFile, writeLogin } from "./kept-login.ts";
import { checkUrl, proxiesOf } from "./open-service.ts";
import { signInProgram } from "./sign-in-program.ts";

/** The flags of `dl login`. */
export interface LoginFlags {
  /** Take an API key, also on a terminal. */
  readonly key?: boolean;
  /** Show a code, also where the standard input is no terminal. */
  readonly code?: boolean;
}

interface Ends {
  readonly input: NodeJS.ReadStream;
  readonly notes: NodeJS.WritableStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Signs in by a code that a member approves, or keeps an API key once the service has taken it. Returns a sentence that says what was kept.
 * Throws {@link UsageError}, {@link RefusedError}.
 */
export async function logIn(given: string | undefined, flags: LoginFlags, ends: Ends): Promise<string> {
  if (given === undefined) throw new UsageError("Which control plane? Give its address: dl login URL");
  const url = checkUrl(given);
  const file = loginFile(ends.environment);
  await using transport = undiciTransport({ way: { proxies: proxiesOf(ends.environment) } });
  const open = (token?: string) => createClient({ baseUrl: url, transport, ...(token !== undefined && { token }) });
  const isCode = flags.code === true || (flags.key !== true && ends.input.isTTY);
  if (isCode && (await hasCodes(open(), flags, ends))) {
    const apiKey = await signInProgram(open(), ends);
    const { email, orgDisplayName } = await open(apiKey).call(api.me.get, {});
    writeLogin(file, { url, apiKey, isSession: true });
    return printable(`Signed in to ${url} as ${email ?? "a member"} of ${orgDisplayName}. The session is in ${file}.`);
  }
  const apiKey = await readKey(ends);
  await tryKey(url, open(apiKey));
  writeLogin(file, { url, apiKey });
  return `The API key for ${url} works, and is in ${file}.`;
}

const readWays = {
  method: "get",
  path: sessionRoutes.ways.path,
  access: { kind: "person" },
  summary: "",
  response: SignInWays,
} as const satisfies Operation;

/** Says whether there is a member who can approve a code. An older service does not even know the question. */
async function hasCodes(client: Client, { code }: LoginFlags, { notes }: Ends): Promise<boolean> {
  const ways = await client.call(readWays, {}).catch((error: unknown) => {
    if (error instanceof ApiCallError && error.status === 404) return undefined;
    throw error;
  });
  if (ways && (ways.accounts || ways.oidc)) return true;
  const why = ways ? "has no members yet who could approve a sign-in" : "does not offer a sign-in by a code";
  if (code) throw new RefusedError(`The control plane ${why}. Without --code, dl login takes an API key.`);
  notes.write(`The control plane ${why}; an API key signs in.\n`);
  return false;
}

async function readKey({ input, notes }: Ends): Promise<string> {
  const typed = input.isTTY ? await askHidden(input, notes, "API key: ") : await readLine(input);
  if (typed === undefined) throw new UsageError("No API key was given, and nothing was written.");
  const key = typed.trim();
  if (/^[!-~]+$/.test(key)) return key;
  throw new UsageError(
    "This is not an API key. API keys are made in the settings of the console; they begin with dl_sk_",
  );
}

/** Tries an API key. One that may not list recordings is good for something else. */
async function tryKey(url: string, client: Client): Promise<void> {
  try {
    await client.call(api.recordings.list, { limit: 1 });
  } catch (error) {
    const status = error instanceof ApiCallError ? error.status : undefined;
    if (status === 401) throw new RefusedError(`${url} does not accept this API key. Nothing was written.`);
    if (status !== 403) throw error;
  }
}
