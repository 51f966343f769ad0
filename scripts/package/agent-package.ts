import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { program } from "../../packages/agent/src/program.ts";
import { makePackagedUnit } from "../../packages/agent/src/service/unit.ts";
import { settleModes, writeDeb, writeTarball } from "./archives.ts";
import { architectures, type BuildFacts, ROOT } from "./build-facts.ts";
import { gzip, writeControl } from "./debian-control.ts";
import { copyProgram, HELP, type Making, placeHelp, placeVersion, write } from "./place-version.ts";
import { archiveName } from "./release-manifest.ts";
import { makeSbom } from "./sbom.ts";

const PACKAGING = join(ROOT, "packages/agent/packaging");
const DESCRIPTION = "edge agent that finds, reports and uploads recordings of robots";

/** Makes the archive and the package of the agent for an architecture. Returns the names of the files. */
export function packageAgent(making: Making): string[] {
  const { architecture, place, facts } = making;
  const archive = archiveName(facts.version, architecture);
  const name = archive.replace(/\.tar\.gz$/, "");
  const tree = join(place.work, name);
  const sbom = makeSbom({ name: "downlink-agent", description: DESCRIPTION, ...placeTree(tree, making) }, facts);
  write(join(tree, "share/doc/sbom.cdx.json"), sbom);
  writeFileSync(join(place.out, `${name}.cdx.json`), sbom);
  writeTarball(tree, join(place.out, archive), facts);
  const deb = `downlink-agent_${facts.version}_${architectures[architecture].debian}.deb`;
  const root = join(place.work, `deb-${architecture}`);
  placeDeb(tree, root, facts);
  writeControl(
    root,
    { name: "downlink-agent", architecture, description: DESCRIPTION, scripts: join(PACKAGING, "debian") },
    facts,
  );
  writeDeb(root, join(place.out, deb), facts);
  return [archive, deb, `${name}.cdx.json`];
}

/** The archive: a version, what starts it, and what belongs to a system. */
function placeTree(tree: string, making: Making) {
  const { place, facts } = making;
  const contents = placeVersion("agent", join(tree, "version"), making);
  copyProgram(join(PACKAGING, "agent"), join(tree, "bin/agent"));
  cpSync(join(ROOT, "LICENSE"), join(tree, "share/doc/LICENSE"));
  cpSync(join(PACKAGING, "agent.env.example"), join(tree, "share/doc/examples/agent.env"));
  placeHelp(program, join(tree, "share"), facts);
  if (place.publicKey !== undefined) write(join(tree, "share/release.pub"), place.publicKey);
  settleModes(tree, ["bin/agent", "version/bin/node"]);
  return contents;
}

function placeDeb(tree: string, root: string, facts: BuildFacts): void {
  const library = join(root, "usr/lib/downlink-agent");
  cpSync(join(tree, "version"), join(library, "version"), { recursive: true });
  copyProgram(join(tree, "bin/agent"), join(root, "usr/bin/agent"));
  const share = join(root, "usr/share");
  for (const one of HELP) cpSync(join(tree, "share", one), join(share, one), { recursive: true });
  cpSync(join(tree, "share/doc/examples"), join(share, "doc/downlink-agent/examples"), { recursive: true });
  cpSync(join(tree, "share/doc/sbom.cdx.json"), join(share, "doc/downlink-agent/sbom.cdx.json"));
  const units = join(root, "usr/lib/systemd/system");
  write(join(units, "downlink-agent.service"), makePackagedUnit({ isTemplate: false }));
  write(join(units, "downlink-agent@.service"), makePackagedUnit({ isTemplate: true }));
  if (existsSync(join(tree, "share/release.pub")))
    write(join(share, "downlink-agent/release.pub"), readFileSync(join(tree, "share/release.pub"), "utf8"));
  gzip(join(share, "man/man1/agent.1"), facts);
}
