import { rmSync } from "node:fs";
import { ApiCallError, createClient, NetworkError } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { api } from "@downlink/protocol";
import { printable } from "@downlink/terminal/printable";
import { UsageError } from "../failures/failures.ts";
import { type Login, loginFile, readLogin } from "./kept-login.ts";
import { proxiesOf } from "./open-service.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Removes the kept login, also one that cannot be read, and ends its session where it is one. Returns lines that say what was removed, and
 * what was not.
 */
export async function logOut(environment: Environment): Promise<string[]> {
  const file = loginFile(environment);
  const found = findLogin(file);
  const still = environment.DOWNLINK_API_KEY ? ["DOWNLINK_API_KEY is set, and is used as before."] : [];
  if (found === undefined) return [`There is no login to remove: ${file} does not exist.`, ...still];
  const ended = found !== "unreadable" && found.isSession ? await endSession(found, environment) : undefined;
  rmSync(file);
  if (found === "unreadable") return [`${file} could not be read, and was removed.`, ...still];
  const url = printable(found.url);
  if (ended !== undefined) return [`The session at ${url} was removed from ${file}.`, ended, ...still];
  return [
    `The address ${url} and its API key were removed from ${file}.`,
    `The key itself still works, for those who have it. Delete it where it was made: ${url}/settings/keys`,
    ...still,
  ];
}

function findLogin(file: string) {
  try {
    return readLogin(file);
  } catch (error) {
    if (error instanceof UsageError) return "unreadable";
    throw error;
  }
}

/** Ends the session at the service, so that its token is worth nothing any more. Returns a sentence that says whether it has ended. */
async function endSession({ url, apiKey }: Login, environment: Environment): Promise<string> {
  await using transport = undiciTransport({ way: { proxies: proxiesOf(environment) } });
  const client = createClient({ baseUrl: url, token: apiKey, transport });
  try {
    const current = (await client.call(api.me.listSessions, {})).find(({ isCurrent }) => isCurrent);
    if (current) await client.call(api.me.endSession, { id: current.id });
    return "It has ended.";
  } catch (error) {
    if (error instanceof ApiCallError && error.status === 401) return "It had ended before.";
    if (!(error instanceof ApiCallError || error instanceof NetworkError)) throw error;
    return `It could not be ended at the service (${printable(error.message)}): end it there: ${printable(url)}/settings/account`;
  }
}
