// Makes the packages: node scripts/package/main.ts [--arch x64|arm64]… [--key FILE] [--version X.Y.Z] [--out DIR]
//
// They are for this machine's architecture, unless others are named. With --new-key FILE it makes a key that signs releases, and ends.
import { cpSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { packageAgent } from "./agent-package.ts";
import { type Architecture, architectures, ROOT, readBuildFacts, requireTools, runTool } from "./build-facts.ts";
import { packageCli, packageCliForNpm } from "./cli-package.ts";
import { packageCloud } from "./cloud-package.ts";
import { compile } from "./compile.ts";
import { installDependencies } from "./install-dependencies.ts";
import type { PackagePlace } from "./place-version.ts";
import { makeKey, publicHalf, writeManifest, writeSums } from "./release.ts";

const { values } = parseArgs({
  options: {
    arch: { type: "string", multiple: true, default: [process.arch] },
    key: { type: "string" },
    "new-key": { type: "string" },
    out: { type: "string", default: join(ROOT, "out") },
    version: { type: "string" },
  },
});
process.umask(0o022); // Whatever that of the caller is, the same modes are packed.
if (values["new-key"] === undefined) build();
else makeKey(resolve(values["new-key"]));

function build(): void {
  const unknown = values.arch.find((name) => !Object.hasOwn(architectures, name));
  if (unknown !== undefined) throw new Error(`--arch ${unknown}: expected ${Object.keys(architectures).join(" or ")}`);
  requireTools(values.arch as Architecture[]);
  const keyFile = values.key === undefined ? undefined : resolve(values.key);
  const publicKey = keyFile === undefined ? undefined : publicHalf(keyFile);
  const facts = readBuildFacts(values.version);
  const out = resolve(values.out);
  const work = mkdtempSync(join(tmpdir(), "downlink-package-"));
  try {
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    const place: PackagePlace = { work, out, installed: join(work, "installed"), publicKey };
    const step = stepsOf();
    step("compiled", () => compile(["agent", "cli", "cloud"], facts));
    step("guide built", () => runTool([process.execPath, "scripts/build-guide.ts"], facts));
    step("dependencies installed", () => installDependencies(place.installed, facts));
    const makeAll = (what: string, make: typeof packageAgent) =>
      (values.arch as Architecture[]).flatMap((architecture) =>
        step(`${what} for ${architecture}`, () => make({ architecture, place, facts })),
      );
    const agents = makeAll("agent", packageAgent);
    const clouds = makeAll("control plane", packageCloud);
    const clis = [...makeAll("dl", packageCli), ...step("dl for npm", () => packageCliForNpm(place, facts))];
    cpSync(join(ROOT, "packages/agent/packaging/install.sh"), join(out, "install.sh"));
    const names = ["install.sh", ...agents, ...writeManifest(out, agents, { facts, keyFile }), ...clouds, ...clis];
    writeSums(out, names);
    for (const name of names) console.log(`${megabytes(join(out, name))} MB  ${name}`);
    if (keyFile === undefined) console.log("NOT SIGNED: robots take releases with --key FILE only");
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function stepsOf() {
  return <T>(what: string, work: () => T): T => {
    const started = performance.now();
    const made = work();
    console.log(`${what} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
    return made;
  };
}

function megabytes(file: string): string {
  return (statSync(file).size / 1e6).toFixed(1).padStart(6);
}
