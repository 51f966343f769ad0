import { spawnSync } from "node:child_process";
import { cp, mkdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGES = fileURLToPath(new URL("../../../../", import.meta.url));
const NAMES = ["protocol", "terminal", "tracing", "client", "recordings", "agent"];
const SCOPE = "@downlink/";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly publishConfig?: object;
}

/** Builds the agent and lays it out as an installation does, without its sources. Returns the path of its program. */
export async function installAgent(folder: string): Promise<string> {
  const { status } = spawnSync("tsc", ["--build", join(PACKAGES, "agent")], { stdio: "inherit" });
  if (status !== 0) throw new Error("the agent does not build");
  for (const name of NAMES) await installPackage(name, folder);
  return join(folder, "agent/dist/main.js");
}

async function installPackage(name: string, folder: string): Promise<void> {
  const from = join(PACKAGES, name);
  const manifest = JSON.parse(await readFile(join(from, "package.json"), "utf8")) as Manifest;
  await cp(join(from, "dist"), join(folder, name, "dist"), { recursive: true });
  await writeFile(join(folder, name, "package.json"), JSON.stringify({ ...manifest, ...manifest.publishConfig }));
  for (const dependency of Object.keys(manifest.dependencies ?? {})) {
    const link = join(folder, name, "node_modules", dependency);
    await mkdir(dirname(link), { recursive: true });
    const isOurs = dependency.startsWith(SCOPE);
    const target = isOurs ? join(folder, dependency.slice(SCOPE.length)) : join(from, "node_modules", dependency);
    await symlink(isOurs ? target : await realpath(target), link);
  }
}
