import { api } from "@downlink/protocol";
import type { Service } from "../login/open-service.ts";
import type { Candidate } from "./find-candidates.ts";

/** A list longer than this helps no one to choose. */
const MOST_NAMES = 200;

interface Wanted {
  readonly asked: "devices" | "projects";
  /** The beginning of the name. */
  readonly typed: string;
}

/** Asks the service for names. Throws what the service and the network do. */
export async function askNames(
  { client }: Service,
  { asked, typed }: Wanted,
  signal: AbortSignal,
): Promise<Candidate[]> {
  if (asked === "projects") {
    const projects = await client.call(api.projects.list, {}, { signal });
    return projects.map(({ id, name }) => ({ value: id, ...(name === undefined ? {} : { description: name }) }));
  }
  const part = typed === "" ? {} : { nameMatches: typed };
  const devices = await client.call(api.devices.list, { ...part, sortBy: "name", limit: MOST_NAMES }, { signal });
  return [...new Set(devices.map(({ name }) => name))].map((value) => ({ value }));
}
