import { ApiCallError, createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { api } from "@downlink/protocol";
import { askHidden } from "@downlink/terminal/ask-hidden";
import { readLine } from "@downlink/terminal/read-line";
import { RefusedError, UsageError } from "../failures/failures.ts";
import { loginFile, writeLogin } from "./kept-login.ts";
import { checkUrl, proxiesOf } from "./open-service.ts";

interface Ends {
  readonly input: NodeJS.ReadStream;
  readonly notes: NodeJS.WritableStream;
}

/** Keeps an API key once the service has taken it. Throws {@link UsageError}, {@link RefusedError}. */
export async function logIn(given: string | undefined, ends: Ends): Promise<{ url: string; file: string }> {
  if (given === undefined) throw new UsageError("Which control plane? Give its address: dl login URL");
  const url = checkUrl(given);
  const apiKey = await readKey(ends);
  await tryKey(url, apiKey);
  const file = loginFile(process.env);
  writeLogin(file, { url, apiKey });
  return { url, file };
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
async function tryKey(url: string, apiKey: string): Promise<void> {
  await using transport = undiciTransport({ way: { proxies: proxiesOf(process.env) } });
  const client = createClient({ baseUrl: url, token: apiKey, transport });
  try {
    await client.call(api.recordings.list, { limit: 1 });
  } catch (error) {
    const status = error instanceof ApiCallError ? error.status : undefined;
    if (status === 401) throw new RefusedError(`${url} does not accept this API key. Nothing was written.`);
    if (status !== 403) throw error;
  }
}
