import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { program } from "../../packages/cli/src/program.ts";
import { settleModes, writeDeb, writeTarball } from "./archives.ts";
import { architectures, type BuildFacts, manifestOf, ROOT } from "./build-facts.ts";
import { gzip, writeControl } from "./debian-control.ts";
import { findDependency } from "./install-dependencies.ts";
import { placeOwn } from "./place-packages.ts";
import { copyProgram, HELP, type Making, type PackagePlace, placeHelp, placeVersion, write } from "./place-version.ts";
import { makeSbom } from "./sbom.ts";

const CLI = join(ROOT, "packages/cli");
const DESCRIPTION = "dl, which lists, fetches and exports recordings from a terminal";

/** Makes the archive and the package of `dl` for an architecture. Returns the names of the files. */
export function packageCli(making: Making): string[] {
  const { architecture, place, facts } = making;
  const name = `downlink-cli-${facts.version}-linux-${architecture}`;
  const tree = join(place.work, name);
  const contents = placeVersion("cli", join(tree, "version"), making);
  copyProgram(join(CLI, "packaging/dl"), join(tree, "bin/dl"));
  placeHelp(program, join(tree, "share"), facts);
  cpSync(join(ROOT, "LICENSE"), join(tree, "share/doc/LICENSE"));
  write(
    join(tree, "share/doc/sbom.cdx.json"),
    makeSbom({ name: "downlink-cli", description: DESCRIPTION, ...contents }, facts),
  );
  settleModes(tree, ["bin/dl", "version/bin/node"]);
  writeTarball(tree, join(place.out, `${name}.tar.gz`), facts);
  const deb = `downlink-cli_${facts.version}_${architectures[architecture].debian}.deb`;
  const root = join(place.work, `cli-deb-${architecture}`);
  cpSync(join(tree, "version"), join(root, "usr/lib/downlink-cli/version"), { recursive: true });
  copyProgram(join(tree, "bin/dl"), join(root, "usr/bin/dl"));
  for (const one of HELP) cpSync(join(tree, "share", one), join(root, "usr/share", one), { recursive: true });
  cpSync(join(tree, "share/doc/sbom.cdx.json"), join(root, "usr/share/doc/downlink-cli/sbom.cdx.json"));
  gzip(join(root, "usr/share/man/man1/dl.1"), facts);
  const scripts = join(CLI, "packaging");
  writeControl(root, { name: "downlink-cli", architecture, description: DESCRIPTION, scripts }, facts);
  writeDeb(root, join(place.out, deb), facts);
  return [`${name}.tar.gz`, deb];
}

/** Makes the package that npm installs and a registry takes: our packages are in it, and those of others are fetched at their versions. */
export function packageCliForNpm({ work, out, installed }: PackagePlace, facts: BuildFacts): string[] {
  const folder = join(work, "npm/package");
  mkdirSync(folder, { recursive: true });
  placeOwn("packages/cli", folder, facts.version);
  const dependencies: Record<string, string> = {};
  const own = new Set<string>();
  const collect = (name: string) => {
    const from = join(installed, "packages", name);
    for (const dependency of Object.keys(manifestOf(from).dependencies ?? {}))
      if (!dependency.startsWith("@downlink/"))
        dependencies[dependency] = manifestOf(findDependency(from, dependency)!).version;
      else if (!own.has(dependency)) {
        own.add(dependency);
        const inner = dependency.slice("@downlink/".length);
        placeOwn(`packages/${inner}`, join(folder, "node_modules", dependency), facts.version);
        collect(inner);
      }
  };
  collect("cli");
  const { name, description, license, publishConfig } = manifestOf("packages/cli");
  const manifest = {
    ...{ name, version: facts.version, description, license, type: "module", bin: publishConfig?.bin },
    ...{
      engines: { node: ">=24" },
      dependencies: { ...dependencies, ...pinned(own, facts) },
      bundleDependencies: [...own],
    },
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const file of ["README.md", "../../LICENSE"]) cpSync(join(CLI, file), join(folder, file.replace("../../", "")));
  placeHelp(program, join(folder, "share"), facts);
  settleModes(folder, ["dist/main.js"]);
  const archive = `downlink-cli-${facts.version}.tgz`;
  writeTarball(folder, join(out, archive), facts);
  return [archive];
}

function pinned(own: ReadonlySet<string>, { version }: BuildFacts): Record<string, string> {
  return Object.fromEntries([...own].map((name) => [name, version]));
}
