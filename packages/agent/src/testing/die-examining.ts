// It is loaded into an agent before the agent begins (`node --import`). It notes each file whose content is examined, and kills the
// process at the one that DIE_EXAMINING names, as a file does that takes more memory than there is.
import { tracingChannel } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";

const { EXAMINED = "/dev/null", DIE_EXAMINING } = process.env;

tracingChannel("downlink.agent.examination").start.subscribe((looked) => {
  const { path } = looked as { readonly path: string };
  appendFileSync(EXAMINED, `${path}\n`);
  if (path === DIE_EXAMINING) process.kill(process.pid, "SIGKILL");
});
