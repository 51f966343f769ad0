// Loaded into an agent before it begins (`node --import`): writes down each file whose content is looked at, and kills the process
// at the one that DIE_EXAMINING names, as a file does that takes more memory than there is.
import { tracingChannel } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";

const { EXAMINED = "/dev/null", DIE_EXAMINING } = process.env;

tracingChannel("downlink.agent.examination").start.subscribe((looked) => {
  const { path } = looked as { readonly path: string };
  appendFileSync(EXAMINED, `${path}\n`);
  if (path === DIE_EXAMINING) process.kill(process.pid, "SIGKILL");
});
