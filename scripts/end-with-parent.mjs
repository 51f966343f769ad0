// Loaded before a program (`node --import`) that nobody but its starter would ever end: when that one is killed, it is told to stop.
import { isMainThread } from "node:worker_threads";
import { whenParentIsGone } from "./parent.mjs";

if (isMainThread) whenParentIsGone(() => process.kill(process.pid, "SIGTERM"));
