import type { Command } from "commander";
import { urlOf } from "./run.ts";

export function addLoginCommands(program: Command): void {
  program
    .command("login [url]")
    .description("Save the address of a control plane and an API key, which is asked for or read from standard input")
    .action(async (url: string | undefined, _flags: object, command: Command) => {
      const { logIn } = await import("../login/log-in.ts");
      const given = url ?? urlOf(command) ?? (process.env.DOWNLINK_API_URL || undefined);
      const { url: kept, file } = await logIn(given, { input: process.stdin, notes: process.stderr });
      process.stdout.write(`The API key for ${kept} works, and is in ${file}.\n`);
    });
  program
    .command("logout")
    .description("Remove the address and the API key that `dl login` saved")
    .action(async () => {
      const { logOut } = await import("../login/log-out.ts");
      process.stdout.write(`${logOut(process.env).join("\n")}\n`);
    });
}
