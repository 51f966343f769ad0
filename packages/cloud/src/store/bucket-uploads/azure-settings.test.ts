import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "../../config.ts";
import { ConfigError } from "../../core/config-error.ts";
import { addressOf, nameStore } from "./store-address.ts";

const KEY = Buffer.from("a key of nobody's account").toString("base64");
const SAS = "sv=2024-11-04&sr=c&sp=rwdl&sig=c2VjcmV0";
const chosen = { DOWNLINK_STORE: "azure", DOWNLINK_AZURE_CONTAINER: "robots" };
const azure = { ...chosen, DOWNLINK_AZURE_ACCOUNT: "fleet", AZURE_STORAGE_KEY: KEY };

test("objects are in a container of Azure where one is chosen", () => {
  assert.equal(readConfig({ AZURE_STORAGE_KEY: KEY }).container, undefined);
  const container = { account: "fleet", container: "robots", endpoint: undefined, prefix: "" };
  assert.deepEqual(readConfig(azure).container, container);
  const elsewhere = {
    ...{ ...chosen, DOWNLINK_AZURE_ACCOUNT: "fleet", AZURE_STORAGE_SAS_TOKEN: `?${SAS}` },
    DOWNLINK_AZURE_ENDPOINT: "http://127.0.0.1:10000/fleet",
    DOWNLINK_AZURE_PREFIX: "downlink/objects/",
  };
  assert.deepEqual(readConfig(elsewhere).container, {
    ...container,
    endpoint: "http://127.0.0.1:10000/fleet",
    prefix: "downlink/objects/",
  });
});

test("a connection string says where the account is", () => {
  const inCloud = (suffix: string) =>
    `DefaultEndpointsProtocol=https;AccountName=fleet;AccountKey=${KEY};EndpointSuffix=${suffix}`;
  const cases = [
    [inCloud("core.windows.net"), undefined],
    [inCloud("core.chinacloudapi.cn"), "https://fleet.blob.core.chinacloudapi.cn"],
    [`AccountName=fleet;AccountKey=${KEY};BlobEndpoint=http://127.0.0.1:1/fleet/;`, "http://127.0.0.1:1/fleet"],
  ] as const;
  for (const [text, endpoint] of cases) {
    const { container } = readConfig({ ...chosen, AZURE_STORAGE_CONNECTION_STRING: text });
    assert.deepEqual([container?.account, container?.endpoint], ["fleet", endpoint]);
  }
  const signed = `BlobEndpoint=https://fleet.blob.core.windows.net;SharedAccessSignature=${SAS}`;
  const named = { ...chosen, DOWNLINK_AZURE_ACCOUNT: "fleet", AZURE_STORAGE_CONNECTION_STRING: signed };
  assert.equal(nameStore(addressOf(readConfig(named))), "azure://fleet/robots/");
});

test("settings of Azure that are wrong, missing or have no effect are named in the error, which shows no secret", () => {
  const { AZURE_STORAGE_KEY: _, ...unproven } = azure;
  const connected = (text: string) => ({ ...unproven, AZURE_STORAGE_CONNECTION_STRING: text });
  const wrong: [Record<string, string>, RegExp][] = [
    [{ DOWNLINK_STORE: "azure" }, /^DOWNLINK_AZURE_CONTAINER: is missing/],
    [{ DOWNLINK_AZURE_CONTAINER: "robots" }, /^DOWNLINK_AZURE_CONTAINER: is for DOWNLINK_STORE=azure only/],
    [{ ...azure, DOWNLINK_S3_BUCKET: "robots" }, /^DOWNLINK_S3_BUCKET: is for DOWNLINK_STORE=s3 only/],
    [{ ...azure, DOWNLINK_OBJECTS_DIR: "/objects" }, /^DOWNLINK_OBJECTS_DIR: is for DOWNLINK_STORE=file only/],
    [{ ...azure, DOWNLINK_AZURE_ACCOUNT: "Fleet" }, /^DOWNLINK_AZURE_ACCOUNT: must have 3 to 24/],
    [{ ...azure, DOWNLINK_AZURE_CONTAINER: "a--b" }, /^DOWNLINK_AZURE_CONTAINER: must have 3 to 63/],
    [{ ...azure, DOWNLINK_AZURE_ENDPOINT: "azurite:10000" }, /^DOWNLINK_AZURE_ENDPOINT: /],
    [{ ...azure, DOWNLINK_AZURE_PREFIX: "no-slash" }, /^DOWNLINK_AZURE_PREFIX: must be empty, or folders/],
    [{ ...chosen, AZURE_STORAGE_KEY: KEY }, /^DOWNLINK_AZURE_ACCOUNT: is missing/],
    [unproven, /^AZURE_STORAGE_KEY: is missing; DOWNLINK_STORE=azure needs it, or AZURE_STORAGE_SAS_TOKEN, or /],
    [{ ...azure, AZURE_STORAGE_SAS_TOKEN: SAS }, /^AZURE_STORAGE_SAS_TOKEN: is set beside AZURE_STORAGE_KEY/],
    [{ ...azure, AZURE_STORAGE_KEY: "secret!" }, /^AZURE_STORAGE_KEY: is no key of a storage account/],
    [{ ...unproven, AZURE_STORAGE_SAS_TOKEN: "secret" }, /^AZURE_STORAGE_SAS_TOKEN: is no shared access signature/],
    [connected("AccountName=fleet"), /^AZURE_STORAGE_CONNECTION_STRING: has neither AccountKey nor/],
    [connected(`AccountName=other;AccountKey=${KEY}`), /^DOWNLINK_AZURE_ACCOUNT: is fleet, .* of the account other$/],
  ];
  for (const [environment, sentence] of wrong)
    assert.throws(
      () => readConfig(environment),
      (error) => {
        assert(error instanceof ConfigError);
        const [, line, ...others] = error.message.split("\n");
        assert.deepEqual([sentence.test(line!.trim()), others], [true, []], error.message);
        for (const secret of [KEY, SAS, "secret"]) assert(!error.message.includes(secret));
        return true;
      },
    );
});
