// Runs Azurite on a free port until its standard input ends, which it also does when the process that started it is killed.
import { createRequire } from "node:module";

const [, , program = ""] = process.argv;
process.stdin.resume().on("end", () => process.exit());
process.argv = [
  process.argv[0]!,
  program,
  "--blobPort",
  "0",
  "--inMemoryPersistence",
  "--disableTelemetry",
  "--silent",
];
createRequire(import.meta.url)(program);
