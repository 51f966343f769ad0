import { wrap } from "@downlink/terminal/fit";
import { printableAll } from "@downlink/terminal/printable";
import { knownToken } from "../cloud/credential.ts";
import { checkCloud } from "../doctor/check-cloud.ts";
import { checkStateDir, checkStorageRoot } from "../doctor/check-directories.ts";
import { checkUploadWay, checkUser, checkWatchLimits } from "../doctor/check-system.ts";
import { type Finding, fail, ok, warn } from "../doctor/finding.ts";
import type { Settings } from "../settings/settings.ts";
import { openDatabaseToRead } from "../state/database.ts";
import { readDataUrl } from "../state/state-facts.ts";
import { AgentSilentError } from "../status/socket.ts";
import { asPrinted, paint, type RenderOptions } from "../text/screen.ts";
import { readStatus } from "./status.ts";

/** Checks everything that the agent needs, with the rights of this user. */
export async function examineSetup(settings: Settings): Promise<Finding[]> {
  const { pid, findings } = await examineAgent(settings);
  const groups = await Promise.all([
    checkUser(pid),
    checkStateDir(settings),
    checkStorageRoot(settings),
    checkWatchLimits(settings),
    checkUploadWay(settings),
    checkCloud({ ...settings, token: knownToken(settings), dataUrl: knownDataUrl(settings) }),
  ]);
  return [...findings, ...groups.flat()];
}

/** Checks whether an agent runs, and which problems it shows. */
async function examineAgent(settings: Settings): Promise<{ pid: number | null; findings: Finding[] }> {
  try {
    const { health, agent, problems } = await readStatus(settings);
    const start = warn("Agent", "not running", "Start it: `agent run`, or `systemctl start downlink-agent`.");
    const running = health === "not running" ? start : ok("Agent", `${health}, pid ${agent.pid}`);
    const complaints = problems.map(({ code, title, detail, fix }) => warn(code, `${title}: ${detail}`, fix));
    return { pid: agent.pid, findings: [running, ...complaints] };
  } catch (error) {
    if (!(error instanceof AgentSilentError)) throw error;
    const fix = "Is the machine or its disk overloaded? Else start it again: `systemctl restart downlink-agent`.";
    return { pid: null, findings: [fail("Agent", error.message, fix)] };
  }
}

function knownDataUrl(settings: Settings): string | undefined {
  using database = openDatabaseToRead(settings);
  return database && readDataUrl(database);
}

const VERDICT_WIDTH = 6;
const CHECK_WIDTH = 18;
const colors = { ok: "green", warn: "yellow", fail: "red" } as const;

export function renderFindings(findings: readonly Finding[], options: RenderOptions): string {
  const width = options.columns - VERDICT_WIDTH - CHECK_WIDTH;
  const lines = printableAll(findings).flatMap(({ check, verdict, text, fix }) => {
    const head = paint(colors[verdict], verdict.padEnd(VERDICT_WIDTH), options) + check.padEnd(CHECK_WIDTH);
    const texts = [text, ...(fix === null ? [] : [`→ ${asPrinted(fix, options)}`])];
    const body = texts.flatMap((part) => wrap(part, { width, lines: Number.POSITIVE_INFINITY }));
    return body.map((line, index) => (index === 0 ? head : " ".repeat(VERDICT_WIDTH + CHECK_WIDTH)) + line);
  });
  const count = (verdict: Finding["verdict"]) => findings.filter((finding) => finding.verdict === verdict).length;
  return `${lines.join("\n")}\n\n${count("ok")} ok, ${count("warn")} to look at, ${count("fail")} failed\n`;
}
