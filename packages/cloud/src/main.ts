#!/usr/bin/env node
import { nameDatabase } from "./config.ts";
import { operatorMessage } from "./operator-message.ts";
import { program } from "./program.ts";

try {
  await program.parseAsync();
} catch (error) {
  const known = operatorMessage(error, nameDatabase(process.env));
  if (!known) throw error;
  process.stderr.write(`downlink: ${known.message}\n`);
  process.exitCode ??= known.exitCode;
}
