import { createHash } from "node:crypto";
import { type Architecture, architectures, type BuildFacts, runTool } from "./build-facts.ts";
import type { PlacedPackage } from "./place-packages.ts";

export interface SbomSubject {
  /** The name of what is described. */
  readonly name: string;
  readonly description: string;
  readonly architecture: Architecture;
  readonly packages: readonly PlacedPackage[];
  readonly nodeVersion: string;
}

const BUILD_TOOLS = ["binutils", "binutils-aarch64-linux-gnu", "dpkg", "gzip", "tar", "xz-utils"];

/** Makes the list of all components, in CycloneDX's format. Its serial and time come from the commit. */
export function makeSbom(subject: SbomSubject, facts: BuildFacts): string {
  const { name, description, architecture, packages, nodeVersion } = subject;
  const reference = `pkg:generic/${name}@${facts.version}?arch=${architectures[architecture].debian}`;
  const node = {
    type: "platform",
    "bom-ref": `pkg:generic/node@${nodeVersion}`,
    name: "node",
    version: nodeVersion,
    licenses: [{ license: { id: "MIT" } }],
    purl: `pkg:generic/node@${nodeVersion}`,
  };
  const components = [node, ...packages.map(componentOf)];
  const document = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(`${facts.commit} ${reference}`)}`,
    version: 1,
    metadata: {
      timestamp: new Date(facts.epochSeconds * 1000).toISOString().replace(".000Z", "Z"),
      component: { type: "application", "bom-ref": reference, name, version: facts.version, description },
      properties: [
        { name: "downlink:commit", value: facts.commit },
        ...BUILD_TOOLS.map((tool) => ({ name: `downlink:built-with:${tool}`, value: versionOfTool(tool, facts) })),
      ],
    },
    components,
    dependencies: [{ ref: reference, dependsOn: components.map((component) => component["bom-ref"]) }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function componentOf({ name, version, license }: PlacedPackage) {
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const isExpression = / (OR|AND|WITH) /.test(license);
  const licenses = isExpression ? [{ expression: license }] : [{ license: { id: license } }];
  return { type: "library", "bom-ref": purl, name, version, licenses, purl };
}

function versionOfTool(name: string, facts: BuildFacts): string {
  const listed = runTool(
    ["sh", "-c", `dpkg-query -W -f '\${Version}' "$1" 2>/dev/null || echo none`, "sh", name],
    facts,
  );
  return listed.trim();
}

/** Makes an identifier of version 8 (RFC 9562): its bits are those of a hash. */
function uuidOf(text: string): string {
  const bytes = createHash("sha256").update(text).digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
