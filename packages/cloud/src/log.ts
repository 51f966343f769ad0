import { type Logger, pino } from "pino";

/** One JSON line an event on the standard output, until that is lost: a closed terminal takes the output with it and nothing else. */
export function openLog(level: string): Logger {
  const out = pino.destination(process.stdout.fd);
  const log = pino({ level }, out);
  out.on("error", (error: NodeJS.ErrnoException) => {
    throwUnlessLost(error);
    log.level = "silent";
    out.destroy(); // else it would try for ever to write the rest before the process ends
  });
  process.stdout.on("error", throwUnlessLost);
  process.stderr.on("error", throwUnlessLost);
  return log;
}

function throwUnlessLost(error: NodeJS.ErrnoException): void {
  if (error.code !== "EIO" && error.code !== "EPIPE") throw error;
}
