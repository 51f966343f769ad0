import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { curlText, dlText, type ExportChoice, exportBody, pythonText, quotePython, quoteShell } from "./export-text.ts";

const PLAIN = ["it's", `"; rm -rf ~; echo "`, "$(id)", "`id`", "\\", "é 🤖", "'''", "%s", "!!", "--flag"];
/** As a terminal takes them: the end of a pasted text, Ctrl-C, a colour, an order in one byte, a line and its end. */
const CONTROLS = ["\u001b[201~\u0003", "\u001b[31m'red'", "\u009b31m", "\u007f", "a\nb\\n", "a\r\n"];
const NASTY = [...PLAIN, ...CONTROLS];
const PYTHON = "/usr/bin/python3";
const skip = existsSync(PYTHON) ? false : `there is no ${PYTHON}`;

test("a shell reads what was quoted for it, whatever a robot called its topics", () => {
  const read = (shell: string, texts: readonly string[]) => {
    const program = `printf '%s\\0' ${texts.map(quoteShell).join(" ")}`;
    return execFileSync(shell, ["-c", program], { encoding: "utf8" }).split("\0").slice(0, -1);
  };
  assert.deepEqual(read("sh", PLAIN), PLAIN);
  assert.deepEqual(read("bash", NASTY), NASTY);
});

test("no character of a robot does anything to the terminal that a command is pasted into", () => {
  const choice: ExportChoice = { recordingId: "rec_1", topics: NASTY, outputFormat: "mcap", compressionFormat: "" };
  const where = { url: "http://127.0.0.1:1", fileName: NASTY.join("") };
  for (const toText of [curlText, dlText, pythonText])
    assert.match(toText(choice, where), /^[^\p{Cc}]*(\n[^\p{Cc}]*)*$/u, toText.name);
});

test("Python reads what was quoted for it", { skip }, () => {
  const program = `import sys\nfor text in [${NASTY.map(quotePython).join(", ")}]: sys.stdout.buffer.write(text.encode("utf-16", "surrogatepass").decode("utf-16").encode() + b"\\0")`;
  const read = execFileSync(PYTHON, ["-c", program], { encoding: "utf8" });
  assert.deepEqual(read.split("\0").slice(0, -1), NASTY);
});

test("what was chosen is asked for to the nanosecond, and what was not is not named", () => {
  const least: ExportChoice = { recordingId: "rec_1", outputFormat: "mcap", compressionFormat: "lz4" };
  assert.deepEqual(JSON.parse(exportBody(least)), least);
  const all: ExportChoice = { ...least, topics: NASTY, start: 1n, end: 2n, includeAttachments: true };
  assert.deepEqual(JSON.parse(exportBody(all)), {
    ...all,
    start: "1970-01-01T00:00:00.000000001Z",
    end: "1970-01-01T00:00:00.000000002Z",
  });
});

test("a shell passes to dl what was chosen, to the nanosecond", () => {
  const choice: ExportChoice = {
    recordingId: "rec_1",
    topics: NASTY,
    start: 1n,
    end: 2n,
    outputFormat: "mcap",
    compressionFormat: "",
  };
  const text = dlText({ ...choice, includeAttachments: true }, { url: "http://127.0.0.1:1", fileName: "it's.mcap" });
  const printed = execFileSync("bash", ["-c", `dl() { printf '%s\\0' "$@"; }\n${text}`], { encoding: "utf8" });
  assert.deepEqual(printed.split("\0").slice(0, -1), [
    "export",
    "rec_1",
    "--url=http://127.0.0.1:1",
    ...NASTY.map((topic) => `--topic=${topic}`),
    "--start=1970-01-01T00:00:00.000000001Z",
    "--end=1970-01-01T00:00:00.000000002Z",
    "--format=mcap",
    "--compression=none",
    "--attachments",
    "--output=it's.mcap",
  ]);
});

test("texts name no key, and the file by its name", { skip }, () => {
  const choice: ExportChoice = { recordingId: "rec_1", topics: NASTY, outputFormat: "mcap", compressionFormat: "" };
  const where = { url: "http://127.0.0.1:1", fileName: "it's.mcap" };
  execFileSync("bash", ["-n", "-c", curlText(choice, where)]);
  execFileSync(PYTHON, ["-c", `compile(${quotePython(pythonText(choice, where))}, "x", "exec")`]);
  for (const text of [curlText(choice, where), pythonText(choice, where)]) {
    assert.match(text, /DOWNLINK_API_KEY/);
    assert.match(text, /s\.mcap/);
  }
});
