import type { BuildFacts } from "./build-facts.ts";

/** What a program that is made with commander says of itself. */
export interface Command {
  name(): string;
  description(): string;
  readonly commands: readonly Command[];
  readonly options: readonly Option[];
  readonly registeredArguments: readonly { name(): string; readonly required: boolean; readonly variadic: boolean }[];
}

interface Option {
  readonly flags: string;
  readonly description: string;
  readonly long?: string | undefined;
}

/** Makes the manual page of a program from its help texts. */
export function makeManPage(program: Command, facts: BuildFacts): string {
  const name = program.name();
  const day = new Date(facts.epochSeconds * 1000).toISOString().slice(0, 10);
  return [
    `.TH ${name.toUpperCase()} 1 "${day}" "downlink ${facts.version}" "Downlink"`,
    ".SH NAME",
    `${name} \\- ${roff(firstSentence(program.description()))}`,
    ".SH SYNOPSIS",
    `.B ${name}`,
    "[options] command",
    ".SH DESCRIPTION",
    roff(program.description()),
    ".SH OPTIONS",
    ...program.options.flatMap(describeOption),
    ".SH COMMANDS",
    ...program.commands.flatMap((command) => describeCommand(command, [])),
    "",
  ].join("\n");
}

function describeCommand(command: Command, above: readonly string[]): string[] {
  const path = [...above, command.name()];
  const inner = command.commands.flatMap((child) => describeCommand(child, path));
  const takes = command.registeredArguments.map((one) => {
    const shown = `${one.name()}${one.variadic ? "..." : ""}`;
    return one.required ? `<${shown}>` : `[${shown}]`;
  });
  return [
    ".TP",
    `.B ${roff([...path, ...takes].join(" "))}`,
    roff(command.description()),
    ...(command.options.length > 0 ? [".RS", ...command.options.flatMap(describeOption), ".RE"] : []),
    ...inner,
  ];
}

function describeOption({ flags, description }: Option): string[] {
  return [".TP", `.B ${roff(flags)}`, roff(description)];
}

function firstSentence(text: string): string {
  return text.split(". ")[0]!.replace(/\.$/, "");
}

/** A line that begins with a point or an apostrophe would be an order. */
function roff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1");
}
