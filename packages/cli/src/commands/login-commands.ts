import { type Command, Option } from "commander";
import type { LoginFlags } from "../login/log-in.ts";
import { urlOf } from "./run.ts";

export function addLoginCommands(program: Command): void {
  program
    .command("login [url]")
    .description("Sign in to a control plane by a code that you approve in a browser, or by an API key, and save that")
    .addOption(
      new Option("--key", "by an API key, which is asked for, or read from a standard input that is no terminal"),
    )
    .addOption(new Option("--code", "by a code, also where the standard input is no terminal").conflicts("key"))
    .action(async (url: string | undefined, flags: LoginFlags, command: Command) => {
      const { logIn } = await import("../login/log-in.ts");
      const given = url ?? urlOf(command) ?? (process.env.DOWNLINK_API_URL || undefined);
      const ends = { input: process.stdin, notes: process.stderr, environment: process.env };
      const said = await logIn(given, flags, ends);
      process.stdout.write(`${said}\n`);
    });
  program
    .command("logout")
    .description("Remove the address and the key that `dl login` saved; a session ends")
    .action(async () => {
      const { logOut } = await import("../login/log-out.ts");
      process.stdout.write(`${(await logOut(process.env)).join("\n")}\n`);
    });
}
