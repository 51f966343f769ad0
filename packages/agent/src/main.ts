#!/usr/bin/env node
import { describeFailure } from "./commands/describe-failure.ts";
import { asPrinted, program } from "./program.ts";

process.stdout.on("error", () => {}); // The reader of the output went away, which is no error.
try {
  await program.parseAsync();
} catch (error) {
  const { text, exitCode } = describeFailure(error, asPrinted);
  if (text !== undefined) process.stderr.write(`agent: ${text}\n`);
  process.exitCode = exitCode;
}
