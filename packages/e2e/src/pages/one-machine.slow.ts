import { test } from "node:test";
import { whyNotInCi } from "../replicas/why-not-in-ci.ts";
import { runPages } from "./run-pages.ts";
import { whyNoSandbox } from "./sandbox.ts";

const skip = whyNotInCi() ?? (await whyNoSandbox([8080])) ?? false;

test("on one machine Downlink is installed, upgraded, backed up and restored as the pages say", { skip }, async () => {
  await runPages("one-machine", { curl: "--connect-to ::127.0.0.1:8080" });
});
