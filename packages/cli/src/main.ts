#!/usr/bin/env node
import { describeFailure } from "./failures/failures.ts";
import { program } from "./program.ts";

process.stdout.on("error", () => {}); // The reader of the output went away, which is no error.
try {
  await program.parseAsync();
} catch (error) {
  const { text, exitCode } = describeFailure(error);
  if (text !== undefined) process.stderr.write(`dl: ${text}\n`);
  process.exitCode = exitCode;
}
