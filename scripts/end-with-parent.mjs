// Loaded before a program (`node --import`) that only its starter would ever end: when the starter is killed, the program is told to stop.
import { isMainThread } from "node:worker_threads";
import { whenParentIsGone } from "./parent.mjs";

if (isMainThread) whenParentIsGone(() => process.kill(process.pid, "SIGTERM"));
