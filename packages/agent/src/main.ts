#!/usr/bin/env node
import { describeFailure } from "./commands/describe-failure.ts";
import { asPrinted, program } from "./program.ts";
import { fitLines } from "./text/screen.ts";

process.stdout.on("error", () => {}); // The reader of the output went away, which is no error.
try {
  await program.parseAsync();
} catch (error) {
  const { text, exitCode } = describeFailure(error, asPrinted);
  const columns = process.stderr.isTTY ? Math.max(40, process.stderr.columns) : Number.POSITIVE_INFINITY;
  if (text !== undefined) process.stderr.write(`${fitLines(`agent: ${text}`, columns)}\n`);
  process.exitCode = exitCode;
}
