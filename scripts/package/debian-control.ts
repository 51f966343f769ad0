import { createHash } from "node:crypto";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listFiles } from "./archives.ts";
import { type Architecture, architectures, type BuildFacts, runTool } from "./build-facts.ts";

export interface DebianPackage {
  readonly name: string;
  readonly architecture: Architecture;
  readonly description: string;
  /** The folder with the maintainer's scripts and the overrides for lintian. */
  readonly scripts: string;
  /** Beside libc. */
  readonly depends?: readonly string[];
}

/** Node's own requirement, which it states for its builds. */
const LIBC = "libc6 (>= 2.28), libstdc++6 (>= 9)";
const MAINTAINER = "Downlink developers <downlink@localhost.localdomain>";

/** Writes `DEBIAN/` and the documents that Debian wants of every package. */
export function writeControl(root: string, made: DebianPackage, facts: BuildFacts): void {
  const { name, scripts } = made;
  const doc = join(root, "usr/share/doc", name);
  mkdirSync(doc, { recursive: true });
  writeFileSync(join(doc, "copyright"), copyright(root, facts));
  writeFileSync(join(doc, "changelog"), changelog(made, facts));
  gzip(join(doc, "changelog"), facts);
  const overrides = join(scripts, "lintian-overrides");
  mkdirSync(join(root, "usr/share/lintian/overrides"), { recursive: true });
  if (existsSync(overrides)) cpSync(overrides, join(root, "usr/share/lintian/overrides", name));
  const debian = join(root, "DEBIAN");
  mkdirSync(debian);
  writeFileSync(join(debian, "control"), controlOf(root, made, facts));
  writeFileSync(join(debian, "md5sums"), md5sums(root));
  for (const script of ["preinst", "postinst", "prerm", "postrm"].filter((one) => existsSync(join(scripts, one)))) {
    cpSync(join(scripts, script), join(debian, script));
    chmodSync(join(debian, script), 0o755);
  }
}

function controlOf(root: string, made: DebianPackage, facts: BuildFacts): string {
  const { name, architecture, description, depends = [] } = made;
  const sizes = installed(root).map((path) => Math.ceil(statSync(join(root, path)).size / 1024));
  return `Package: ${name}
Version: ${facts.version}
Architecture: ${architectures[architecture].debian}
Maintainer: ${MAINTAINER}
Installed-Size: ${sizes.reduce((sum, size) => sum + size, 0)}
Depends: ${[LIBC, ...depends].join(", ")}
Recommends: ca-certificates, acl
Section: net
Priority: optional
Description: ${description}
 Downlink is a data platform for robots. Recordings stay on the robot until
 somebody asks for them, or rules say so; then they are uploaded, indexed and
 exported in exact slices. This package brings its own Node runtime.
`;
}

function changelog({ name }: DebianPackage, { version, commit, epochSeconds }: BuildFacts): string {
  const date = new Date(epochSeconds * 1000).toUTCString().replace("GMT", "+0000");
  return `${name} (${version}) stable; urgency=medium\n\n  * Built from the commit ${commit}.\n\n -- ${MAINTAINER}  ${date}\n`;
}

/** The licences of the packages of others lie beside them. */
function copyright(root: string, facts: BuildFacts): string {
  const licences = listFiles(root).filter((path) => /\/(licen[cs]e|notice|copying)[^/]*$/i.test(path));
  const year = new Date(facts.epochSeconds * 1000).getUTCFullYear();
  return `This is Downlink, an open, self-hostable data platform for robots.
Copyright ${year} the authors of Downlink.

Licensed under the Apache License, Version 2.0, which is in /usr/share/common-licenses/Apache-2.0 on Debian systems.

Packages of other authors are in it; sbom.cdx.json beside this file lists all of them. Their licences are in

${licences.map((path) => `/${path}\n`).join("")}`;
}

function md5sums(root: string): string {
  return installed(root)
    .map(
      (path) =>
        `${createHash("md5")
          .update(readFileSync(join(root, path)))
          .digest("hex")}  ${path}\n`,
    )
    .join("");
}

function installed(root: string): string[] {
  return listFiles(root).filter((path) => !path.startsWith("DEBIAN/"));
}

/** Replaces a file by its compressed form, which is the same every time. */
export function gzip(file: string, facts: BuildFacts): void {
  runTool(["gzip", "-9", "-n", file], facts);
}
