import { test } from "node:test";
import { runCeph, whyNoCeph } from "@downlink/cloud/testing/run-ceph";
import { whyNotInCi } from "../replicas/why-not-in-ci.ts";
import { runPages } from "./run-pages.ts";
import { whyNoSandbox } from "./sandbox.ts";

const PORTS = [80, 5432, 8081, 8082, 8083, 8091, 8092];
const skip = whyNotInCi() ?? whyNoCeph() ?? (await whyNoSandbox(PORTS)) ?? false;

test("several replicas are installed, upgraded, backed up and restored as the pages say", { skip }, async () => {
  await using ceph = await runCeph();
  const { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } = ceph.owner;
  const env = { S3: ceph.endpoint, PASSWORD: "secret", AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY };
  await runPages("replicas", { env, curl: "--connect-to ::127.0.0.1:80" });
});
