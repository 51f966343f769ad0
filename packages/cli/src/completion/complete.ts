import { printable } from "@downlink/terminal/printable";
import type { Command } from "commander";
import type { Service } from "../login/open-service.ts";
import { type Candidate, findCandidates } from "./find-candidates.ts";

/** A person who waits for a word does not wait for the network. */
const LIMIT_MS = 300;

/**
 * Returns a line for each candidate for the last word: the value, a tab and its description. The line `:files` means the names of files. Where
 * the service does not answer in time, or refuses, there are no candidates, and no error.
 */
export async function complete(
  program: Command,
  words: readonly string[],
  open: () => Promise<Service>,
): Promise<string> {
  const { candidates, asked, before, typed } = findCandidates(program, words);
  if (asked === "files") return ":files\n";
  const all = asked ? await ask(open, { asked, typed }) : candidates;
  return all
    .filter(({ value }) => value.startsWith(typed))
    .map(({ value, description = "" }) => `${before}${printable(value)}\t${printable(description)}\n`)
    .join("");
}

async function ask(
  open: () => Promise<Service>,
  wanted: { asked: "devices" | "projects"; typed: string },
): Promise<readonly Candidate[]> {
  try {
    const { askNames } = await import("./ask-names.ts");
    await using service = await open();
    return await askNames(service, wanted, AbortSignal.timeout(LIMIT_MS));
  } catch {
    return []; // An error text would be written into the line that is being typed.
  }
}
