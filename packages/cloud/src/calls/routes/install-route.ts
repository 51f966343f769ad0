import { open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Hono } from "hono";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import type { Env } from "../connections/env.ts";
import { callInTurn } from "../connections/in-turn.ts";
import { addressOf } from "../connections/limit-rates.ts";
import type { Deps } from "../context/context.ts";
import { sendBlob } from "../data-plane/download.ts";
import { logBreak } from "../data-plane/link-request.ts";
import type { Sendable } from "../data-plane/slice-of.ts";

const SCRIPT = "/install.sh";
const LIST = "/agent-packages";
const FILES = "/agent-packages/:name";
/** They are for shells and people: none of these is a part of the interface for programs. */
export const installPaths: readonly string[] = [SCRIPT, LIST, FILES];

/** The names of a release, which `npm run package -- --key FILE` makes; nothing else of the folder is given away. */
const OF_RELEASE = /^(release\.pub|downlink-agent[-_][\w.+-]+\.(deb|tar\.gz|manifest\.json|manifest\.json\.sig))$/;
/** Stands for the manifest of the newest version, whose name the script cannot know. */
const LATEST = /^latest\.manifest\.json(\.sig)?$/;
/** The script has the address between two apostrophes. */
const ADDRESS = /^https?:\/\/[\w.:[\]/-]+$/;

/**
 * Serves the script that installs the agent on a robot, and the packages that it installs, from the folder that the operator chose. All is 404
 * where they chose none, also for `curl -f … | sh`, but for the list, which is empty then.
 */
export function installRoutes(app: Hono<Env>, deps: Deps): void {
  const { agentPackages, publicUrl, turns, trustedProxies } = deps;
  app.get(SCRIPT, async (c) => {
    const folder = await requireRelease(agentPackages);
    const address = publicUrl();
    if (!ADDRESS.test(address)) throw new ApiError("InvalidRequest", `the address ${address} cannot stand in a script`);
    const script = await readFile(join(folder, "install.sh"), "utf8");
    const text = script.replace(/^CONTROL_PLANE=''/m, `CONTROL_PLANE='${address}'`);
    return c.body(text, 200, { "Content-Type": "text/x-shellscript; charset=utf-8", "Cache-Control": "no-cache" });
  });
  app.get(LIST, async (c) => {
    const names = (await explainLack(agentPackages)) === undefined ? await readdir(agentPackages!) : [];
    return c.json({ files: names.filter((name) => OF_RELEASE.test(name)).sort() });
  });
  app.use(
    FILES,
    callInTurn(
      () => turns.packages,
      (c) => addressOf(c, trustedProxies),
    ),
  );
  app.get(FILES, async (c) => {
    const folder = await requireRelease(agentPackages);
    const asked = c.req.param("name");
    const name = LATEST.test(asked) ? asked.replace("latest", await newestOf(folder)) : asked;
    const path = join(folder, OF_RELEASE.test(name) ? name : throwNotFound(`the package ${asked}`));
    const file = await openPackage(path, asked);
    return await sendBlob(c, file, {
      etag: file.etag,
      mediaType: "application/octet-stream",
      fileName: name,
      onFailure: logBreak(c, deps),
    });
  });
}

/** Opens a file of the release to be sent. Throws NotFound where there is none of that name, or nothing in it yet. */
async function openPackage(path: string, asked: string): Promise<Sendable & { readonly etag: string }> {
  const file = await open(path).catch(absentAs(() => throwNotFound(`the package ${asked}`)));
  const stats = await file.stat();
  if (!stats.isFile() || stats.size === 0) {
    await file.close();
    throwNotFound(`the package ${asked}`);
  }
  return {
    etag: `${stats.ino}-${stats.mtimeMs}`,
    sizeBytes: stats.size,
    stream: (range) => file.createReadStream({ start: range?.start, end: range?.endInclusive, autoClose: false }),
    [Symbol.asyncDispose]: () => file.close(),
  };
}

async function requireRelease(folder: string | undefined): Promise<string> {
  const lack = await explainLack(folder);
  if (lack !== undefined) throw new ApiError("NotFound", lack);
  return folder!;
}

/** A release that is not signed is none: robots would refuse it. */
async function explainLack(folder: string | undefined): Promise<string | undefined> {
  if (folder === undefined)
    return "there are no packages of the agent here: the operator set no DOWNLINK_AGENT_PACKAGES";
  const names = await readdir(folder).catch(absentAs((): string[] => []));
  const lacking = ["install.sh", "release.pub"].filter((name) => !names.includes(name));
  return lacking.length > 0 ? `the folder of DOWNLINK_AGENT_PACKAGES has no ${lacking.join(" and no ")}` : undefined;
}

/** Answers for what is not there; all else that reading throws is a fault, and stays one. */
function absentAs<T>(answer: () => T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code !== "ENOENT") throw error;
    return answer();
  };
}

/** Returns the name of the newest release without its ending. */
async function newestOf(folder: string): Promise<string> {
  const releases = (await readdir(folder)).flatMap((name) => {
    const found = /^(downlink-agent-(\d+)\.(\d+)\.(\d+))\.manifest\.json$/.exec(name);
    return found ? [{ name: found[1]!, parts: found.slice(2).map(Number) }] : [];
  });
  const [newest] = releases.sort(({ parts: a }, { parts: b }) => b[0]! - a[0]! || b[1]! - a[1]! || b[2]! - a[2]!);
  return newest?.name ?? throwNotFound("a release of the agent");
}
