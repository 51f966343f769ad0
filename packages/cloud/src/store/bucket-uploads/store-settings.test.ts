import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../../config.ts";

test("objects are files unless a bucket is chosen", () => {
  assert.equal(readConfig({}).bucket, undefined);
  const chosen = { DOWNLINK_STORE: "s3", DOWNLINK_S3_BUCKET: "robots" };
  const bucket = { bucket: "robots", endpoint: undefined, region: "us-east-1", prefix: "", profile: undefined };
  assert.deepEqual(readConfig(chosen).bucket, { ...bucket, forcePathStyle: false, isDirect: false });
  const elsewhere = {
    ...chosen,
    DOWNLINK_S3_ENDPOINT: "http://127.0.0.1:7480",
    DOWNLINK_S3_REGION: "eu-central-1",
    DOWNLINK_S3_PREFIX: "downlink/objects/",
    DOWNLINK_S3_PROFILE: "robots-account",
    DOWNLINK_S3_FORCE_PATH_STYLE: "true",
    DOWNLINK_S3_DIRECT_PARTS: "true",
  };
  assert.deepEqual(readConfig(elsewhere).bucket, {
    bucket: "robots",
    endpoint: "http://127.0.0.1:7480",
    region: "eu-central-1",
    prefix: "downlink/objects/",
    profile: "robots-account",
    forcePathStyle: true,
    isDirect: true,
  });
});

test("settings of the store that are wrong or have no effect are named in the error", () => {
  const s3 = { DOWNLINK_STORE: "s3", DOWNLINK_S3_BUCKET: "robots" };
  const wrong: [Record<string, string>, RegExp][] = [
    [{ DOWNLINK_STORE: "tape" }, /DOWNLINK_STORE: /],
    [{ DOWNLINK_STORE: "s3" }, /DOWNLINK_S3_BUCKET: is missing/],
    [{ DOWNLINK_S3_BUCKET: "robots" }, /DOWNLINK_S3_BUCKET: is for DOWNLINK_STORE=s3 only/],
    [{ ...s3, DOWNLINK_S3_ENDPOINT: "minio:9000" }, /DOWNLINK_S3_ENDPOINT: /],
    [{ ...s3, DOWNLINK_S3_PREFIX: "no-slash" }, /DOWNLINK_S3_PREFIX: must be empty, or folders/],
    [{ ...s3, DOWNLINK_S3_PREFIX: "/slash-first/" }, /DOWNLINK_S3_PREFIX: /],
    [{ ...s3, DOWNLINK_S3_FORCE_PATH_STYLE: "yes" }, /DOWNLINK_S3_FORCE_PATH_STYLE: /],
  ];
  for (const [environment, sentence] of wrong) assert.throws(() => readConfig(environment), sentence);
});
