import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { recordingExtensions } from "@downlink/recordings";
import fc from "fast-check";
import { formatEnvFile, parseEnvFile } from "./env-file.ts";
import { InvalidSettingError } from "./invalid-setting-error.ts";
import { loadSettings, requireSetting, resolveSettings } from "./settings.ts";

test("a flag goes before the environment, that before the file, that before the default", () => {
  const configFile = writeConfig("DOWNLINK_API_URL=http://file\nDOWNLINK_SETTLE_TIME=3s\nDOWNLINK_STATE_DIR=/file\n");
  const environment = {
    DOWNLINK_API_URL: "http://environment",
    DOWNLINK_STATE_DIR: "/environment",
    DOWNLINK_OTHER: "1",
  };
  const settings = loadSettings({ flags: { apiUrl: "http://flag/" }, environment, configFile });
  assert.equal(settings.apiUrl, "http://flag");
  assert.equal(settings.stateDir, "/environment");
  assert.equal(settings.settleTimeMs, 3000);
  assert.equal(settings.incompleteAfterMs, 600_000);
  const endings = recordingExtensions.map((extension) => extension.slice(1));
  assert.deepEqual(settings.watchInclude, [`**/*.{${endings.join(",")}}`]);
  assert.equal(settings.deviceToken, undefined);
});

test("what the control plane may set is absent here until the device sets it, and goes before the default only", () => {
  const nothing = { flags: {}, environment: {}, configFile: writeConfig("") };
  assert.equal(loadSettings(nothing).uploadConcurrency, undefined);
  assert.equal(loadSettings({ ...nothing, flags: { uploadConcurrency: "3" } }).uploadConcurrency, 3);
  const cloud = { uploadConcurrency: "7" };
  const originOf = (flags: object) =>
    resolveSettings({ ...nothing, flags, cloud }).find(({ setting }) => setting === "uploadConcurrency");
  assert.deepEqual([originOf({})?.origin, originOf({})?.value], ["control plane", 7]);
  assert.equal(originOf({ uploadConcurrency: "3" })?.origin, "command line");
});

test("proxies have the names that other programs use, small letters first, and only user and password in them are secret", () => {
  const configFile = writeConfig("HTTPS_PROXY=http://u:p@file:1\nno_proxy=a.example\nNO_PROXY=b.example\n");
  const resolve = (environment: object) =>
    resolveSettings({ flags: {}, environment: { ...environment }, configFile }).filter(({ key }) => /PROXY/.test(key));
  const shown = ({ key, value, origin, secrets }: ReturnType<typeof resolve>[number]) => [key, value, origin, secrets];
  assert.deepEqual(resolve({ http_proxy: "small:1", HTTP_PROXY: "large:1", https_proxy: "" }).map(shown), [
    ["HTTPS_PROXY", "http://u:p@file:1/", "file", ["u:p", "p"]],
    ["HTTP_PROXY", "http://small:1/", "environment", []],
    ["NO_PROXY", "a.example", "file", []],
  ]);
  for (const [text, shownAs] of [
    ["socks5://rover:hidden@host:1", "socks5://…@host:1"],
    ["rover:hidden@host:99999", "…@host:99999"],
    ["http://rover:hid/den@host", "http://…@host"],
  ] as const)
    assert.throws(
      () => resolve({ HTTPS_PROXY: text }),
      (error: Error) => error.message.includes(`${shownAs} is no proxy`) && !/hid/.test(error.message),
    );
  assert.equal(resolve({ https_proxy: "HTTP://Host:3128" })[0]?.value, "http://host:3128/");
});

test("an unknown key in the file is an error that names it", () => {
  const configFile = writeConfig("# comment\nOTHER=1\nDOWNLINK_SETLE_TIME=3s\n");
  assert.throws(() => loadSettings({ flags: {}, environment: {}, configFile }), /unknown setting DOWNLINK_SETLE_TIME/);
});

test("a value that cannot be is an error that names key and place", () => {
  const bad = {
    STATE_DIR: "relative",
    SETTLE_TIME: "2",
    UPLOAD_CONCURRENCY: "0",
    WATCH_USE_NOTIFY: "yes",
    API_URL: "ftp://x",
    LOG_LEVEL: "loud",
    UPLOAD_RATE: "fast",
    UPLOAD_INTERFACES: "eth0 wlan0",
    METRICS_ADDRESS: "9464",
  };
  for (const [name, value] of Object.entries(bad)) {
    const environment = { [`DOWNLINK_${name}`]: value };
    assert.throws(
      () => loadSettings({ flags: {}, environment, configFile: writeConfig("") }),
      (error: Error) =>
        error instanceof InvalidSettingError &&
        error.message.startsWith(`DOWNLINK_${name} in the environment: ${value} `),
    );
  }
});

test("a file named on the command line must exist; a missing setting says where to set it", () => {
  assert.throws(
    () => loadSettings({ flags: {}, environment: {}, configFile: "/nonexistent/agent.env" }),
    /cannot read/,
  );
  const settings = loadSettings({ flags: {}, environment: {}, configFile: writeConfig("") });
  assert.throws(() => requireSetting(settings, "deviceToken"), /DOWNLINK_DEVICE_TOKEN is not set; run `agent enroll`/);
});

test("whatever is written to an env file is read back the same", () => {
  const line = fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n\0]/.test(text) && text.trim() === text);
  fc.assert(
    fc.property(line, (value) => {
      assert.equal(parseEnvFile("f", formatEnvFile(new Map([["KEY", value]]))).get("KEY"), value);
    }),
  );
  for (const value of ["a\u2028b", "\u2029", "'", '"\\', "#x", " = "].map((text) => text.trim())) {
    assert.equal(parseEnvFile("f", formatEnvFile(new Map([["KEY", value]]))).get("KEY"), value);
  }
  assert.throws(() => formatEnvFile(new Map([["KEY", "a\nEVIL=1"]])), /line break/);
});

const directory = mkdtempSync(join(tmpdir(), "downlink-settings-"));
after(() => rmSync(directory, { recursive: true }));
let count = 0;

function writeConfig(text: string): string {
  const path = join(directory, `${count++}.env`);
  writeFileSync(path, text);
  return path;
}

test("globs are separated by commas outside of braces, and what is none is refused with its place", () => {
  const load = (watchInclude: string) =>
    loadSettings({ flags: { watchInclude }, environment: {}, configFile: "/dev/null" });
  assert.deepEqual(load("{a,{b,c},d}/*.mcap, x\\,y ,z").watchInclude, ["{a,{b,c},d}/*.mcap", "x\\,y", "z"]);
  assert.throws(() => load("*.mcap,a(b"), {
    name: "InvalidSettingError",
    message: /WATCH_INCLUDE in the command line: "a\(b" is no glob.+write \\\(/,
  });
  assert.throws(() => load(Array(101).fill("a").join()), /101 globs; at most 100/);
  assert.throws(() => load("a".repeat(501)), /501 characters; a glob has at most 500/);
  assert.throws(() => load(",".repeat(200_000) + "{".repeat(200_000)), /200000 characters/);
});
