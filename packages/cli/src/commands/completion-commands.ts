import { Argument, type Command } from "commander";
import { urlOf } from "./run.ts";

const shells = ["bash", "zsh", "fish"] as const;

export function addCompletionCommands(program: Command): void {
  program
    .command("completion")
    .description("Print a script that lets a shell complete commands, flags and the names of devices and projects")
    .addArgument(new Argument("<shell>", "the shell").choices(shells))
    .action(async (shell: (typeof shells)[number]) => {
      const { scripts } = await import("../completion/scripts.ts");
      process.stdout.write(scripts[shell]);
    });
  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .action(async (words: readonly string[], _flags: object, command: Command) => {
      const { complete } = await import("../completion/complete.ts");
      const open = async () => {
        const { openService } = await import("../login/open-service.ts");
        return openService({
          url: typedUrl(words) ?? urlOf(command),
          environment: process.env,
          signal: new AbortController().signal,
        });
      };
      const text = await complete(program, words, open);
      // A look-up of a name that is not answered would keep the process for as long as the system tries.
      process.stdout.write(text, () => process.exit());
    });
}

/** Returns the control plane that the line under the cursor names: its names are wanted, and not those of another one. */
function typedUrl(words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => /^--url(=|$)/.test(word));
  const flag = words[at];
  if (flag === undefined) return undefined;
  return flag === "--url" ? words.slice(at + 1).find((word) => word !== "=") : flag.slice("--url=".length);
}
