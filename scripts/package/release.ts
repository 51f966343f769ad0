import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BuildFacts } from "./build-facts.ts";
import { type ReleaseManifest, readManifest, verifyManifest } from "./release-manifest.ts";
import { compareVersions } from "./versions.ts";

/** A robot of any older version may come to this one in one step. It is raised when the state of an older one is not understood any more. */
const OLDEST_FROM = "0.1.0";

/** Makes a key for releases: the private half for its owner alone, and the public one beside it. */
export function makeKey(file: string): void {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  writeFileSync(file, privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600, flag: "wx" });
  writeFileSync(`${file}.pub`, publicKey.export({ type: "spki", format: "pem" }));
}

/** Returns the public half of the key that signs. */
export function publicHalf(keyFile: string): string {
  const key = createPublicKey(readFileSync(keyFile));
  if (key.asymmetricKeyType !== "ed25519") throw new Error(`${keyFile} is no ed25519 key: make one with --new-key`);
  return key.export({ type: "spki", format: "pem" }).toString();
}

/** Writes the manifest of the agent's files, and signs it where there is a key. Returns the names of what was written. */
export function writeManifest(
  out: string,
  files: readonly string[],
  { facts, keyFile }: { facts: BuildFacts; keyFile: string | undefined },
): string[] {
  if (compareVersions(OLDEST_FROM, facts.version) > 0)
    throw new Error(`version ${facts.version} is older than ${OLDEST_FROM}, from which one may come to it`);
  const manifest: ReleaseManifest = {
    product: "downlink-agent",
    version: facts.version,
    oldestFrom: OLDEST_FROM,
    builtAt: new Date(facts.epochSeconds * 1000).toISOString(),
    commit: facts.commit,
    files: files.toSorted().map((name) => {
      return { name, sizeBytes: statSync(join(out, name)).size, sha256: sha256(join(out, name)) };
    }),
  };
  const name = `downlink-agent-${facts.version}.manifest.json`;
  const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(out, name), bytes);
  readManifest(bytes.toString()); // throws if a robot could not read it
  if (keyFile === undefined) return [name];
  const signature = sign(null, bytes, createPrivateKey(readFileSync(keyFile)));
  verifyManifest(bytes, signature, publicHalf(keyFile));
  writeFileSync(join(out, `${name}.sig`), signature);
  writeFileSync(join(out, "release.pub"), publicHalf(keyFile));
  return [name, `${name}.sig`, "release.pub"];
}

/** Writes the sums in the form that `sha256sum --check` reads. */
export function writeSums(out: string, names: readonly string[]): void {
  const lines = names.toSorted().map((name) => `${sha256(join(out, name))}  ${name}\n`);
  writeFileSync(join(out, "SHA256SUMS"), lines.join(""));
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
