import type { Command, Option } from "commander";

/** One thing that may stand where the cursor is. */
export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** The kinds of values that only the service, or only the shell, knows. */
export type Asked = "devices" | "projects" | "files";

interface Found {
  readonly candidates: readonly Candidate[];
  readonly asked?: Asked;
  /** The part of the last word before the value: `--device=`. It stands before each candidate. */
  readonly before: string;
  /** The beginning that candidates have. */
  readonly typed: string;
}

/** Flags by their long names, wherever they are. */
const askedFor: Readonly<Record<string, Asked>> = { "--device": "devices", "--project": "projects" };

/** Finds what may stand in the place of the last word; the words before it are complete. The program's name is not among them. */
export function findCandidates(program: Command, given: readonly string[]): Found {
  const words = joinValues(given);
  const last = words.at(-1) ?? "";
  const { command, pending, isLiteral } = walk(program, words.slice(0, -1));
  if (pending) return { ...valuesOf(pending), before: "", typed: last };
  const [name, value] = splitFlag(last);
  const option = isLiteral || value === undefined ? undefined : findOption(command, name);
  if (option && value !== undefined) {
    const isSplit = given.at(-1) !== last; // bash takes `=` for a word of its own
    return { ...valuesOf(option), before: isSplit ? "" : `${name}=`, typed: value };
  }
  const isFlag = last.startsWith("-") && !isLiteral;
  return { candidates: isFlag ? flagsOf(command) : wordsOf(command), before: "", typed: last };
}

/** Joins `--device`, `=` and `rover`, which is how bash splits `--device=rover`. */
function joinValues(words: readonly string[]): string[] {
  const joined: string[] = [];
  for (const [at, word] of words.entries()) {
    const isJoined = word === "=" ? joined.at(-1)?.startsWith("--") : words[at - 1] === "=" && at > 1;
    if (isJoined) joined.push(`${joined.pop()}${word}`);
    else joined.push(word);
  }
  return joined;
}

interface Walked {
  readonly command: Command;
  /** The option whose value the next word is. */
  readonly pending: Option | undefined;
  /** True after `--`: no flag follows. */
  readonly isLiteral: boolean;
}

function walk(program: Command, words: readonly string[]): Walked {
  let [command, pending]: [Command, Option | undefined] = [program, undefined];
  for (const word of words) {
    if (pending) pending = undefined;
    else if (word === "--") return { command, pending, isLiteral: true };
    else if (word.startsWith("-")) pending = takesNext(findOption(command, word));
    else command = shownCommands(command).find((sub) => sub.name() === word) ?? command;
  }
  return { command, pending, isLiteral: false };
}

const takesNext = (option: Option | undefined) => (option?.required ? option : undefined);

function splitFlag(word: string): [string, string | undefined] {
  const at = word.startsWith("--") ? word.indexOf("=") : -1;
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function findOption(command: Command, flag: string): Option | undefined {
  return optionsOf(command).find(({ long, short }) => flag === long || flag === short);
}

/** Returns the options of a command and of those around it, which may stand behind it. */
function optionsOf(command: Command): Option[] {
  const around = command.parent ? optionsOf(command.parent) : [];
  return [...command.options, ...around].filter(({ hidden }) => !hidden);
}

function shownCommands(command: Command): Command[] {
  return command.createHelp().visibleCommands(command);
}

function wordsOf(command: Command): Candidate[] {
  const isChoice = command.registeredArguments[0]?.argChoices;
  if (isChoice) return isChoice.map((value) => ({ value }));
  return shownCommands(command).map((sub) => ({ value: sub.name(), description: sub.description() }));
}

function flagsOf(command: Command): Candidate[] {
  const help = { value: "--help", description: "display help for command" };
  return [...optionsOf(command).map(({ long, description }) => ({ value: long ?? "", description })), help];
}

function valuesOf({ long, argChoices }: Option): Pick<Found, "candidates" | "asked"> {
  if (argChoices) return { candidates: argChoices.map((value) => ({ value })) };
  const asked = /^--(output|folder|mapping)$/.test(long ?? "") ? "files" : askedFor[long ?? ""];
  return { candidates: [], ...(asked ? { asked } : {}) };
}
