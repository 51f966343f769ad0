import { type Logger, pino } from "pino";

/** Writes each event as a line of JSON to the standard output, until that is lost: a closed terminal ends the output and nothing else. */
export function openLog(level: string): Logger {
  const out = pino.destination(process.stdout.fd);
  const log = pino({ level }, out);
  out.on("error", (error: NodeJS.ErrnoException) => {
    throwUnlessLost(error);
    log.level = "silent";
    out.destroy(); // otherwise it would try for ever to write the rest before the process ends
  });
  process.stdout.on("error", throwUnlessLost);
  process.stderr.on("error", throwUnlessLost);
  return log;
}

function throwUnlessLost(error: NodeJS.ErrnoException): void {
  if (error.code !== "EIO" && error.code !== "EPIPE") throw error;
}
