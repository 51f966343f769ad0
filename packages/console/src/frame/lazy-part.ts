import { lazy } from "preact-iso";
import { noteAway } from "../api/queries.ts";
import { MissingPart, missingPart } from "./missing-part.tsx";

/** How often the service is looked for while it is away. */
const LOOK_MS = 3000;

/** A part of the pages that is loaded when it is first shown. */
export function lazyPart<T>(load: () => Promise<T>) {
  return lazy(() => loadPart(load));
}

/**
 * Loads a part of the pages. Without an answer of the service it waits for one and then loads the page again, at the address to which the
 * user went: the part alone could not be asked for twice, because browsers remember that a script was not loaded. In all other cases a
 * banner says what is wrong. It never rejects: a sentence stands in the place of the part, because the page before would stay there.
 */
async function loadPart<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    console.warn(error);
    const page = await readPage();
    missingPart.value = reasonOf(page);
    if (page === undefined) void reloadOnceBack();
    return MissingPart as T;
  }
}

function reasonOf(page: string | undefined): NonNullable<typeof missingPart.value> {
  if (page === undefined) return "away";
  return page.includes(scriptPath()) ? "broken" : "replaced";
}

async function readPage(): Promise<string | undefined> {
  try {
    const answer = await fetch("/", { cache: "no-store" });
    return answer.ok ? await answer.text() : undefined;
  } catch {
    return undefined;
  }
}

/** Looks for the service itself, because a page that is not there yet makes no calls. */
async function reloadOnceBack(): Promise<void> {
  noteAway();
  do await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  while ((await readPage()) === undefined);
  location.reload();
}

/** Returns the path of the script of this version of the pages: its name has a hash of all that it loads. */
function scriptPath(): string {
  return new URL(document.querySelector<HTMLScriptElement>("script[type=module]")!.src).pathname;
}
