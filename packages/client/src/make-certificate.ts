import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

export interface Certificate {
  /** The certificate as PEM. */
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Certificate {
  /** Issues a certificate for a host's name. It is valid from yesterday on, for a year or until `endsAt`. */
  issue(hostName: string, endsAt?: Date): Certificate;
}

const DAY_MS = 86_400_000;
const oids = {
  commonName: "0603550403",
  ecdsaWithSha256: "06082a8648ce3d040302",
  basicConstraints: "0603551d13",
  subjectAltName: "0603551d11",
};

/** Makes a certificate authority, as an organization has one for its own servers. It uses X.509 v3 and ECDSA P-256. */
export function createAuthority(name: string): Authority {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const isAuthority = extension(oids.basicConstraints, sequence(boolean(true)));
  const issue = (subject: string, { key, extensions, endsAt }: Subject): string =>
    signCertificate(keys.privateKey, { issuer: name, subject, key, extensions, endsAt });
  const root = { key: keys.publicKey, extensions: [isAuthority], endsAt: new Date(Date.now() + 365 * DAY_MS) };
  return {
    cert: issue(name, root),
    key: toPem(keys.privateKey),
    issue(hostName, endsAt = new Date(Date.now() + 365 * DAY_MS)) {
      const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const altName = extension(oids.subjectAltName, sequence(der(0x82, Buffer.from(hostName))));
      const cert = issue(hostName, { key: own.publicKey, extensions: [altName], endsAt });
      return { cert, key: toPem(own.privateKey) };
    },
  };
}

interface Subject {
  readonly key: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly endsAt: Date;
}

/** The layout follows RFC 5280, section 4.1. */
function signCertificate(
  key: KeyObject,
  { issuer, subject, ...given }: Subject & { issuer: string; subject: string },
): string {
  const algorithm = sequence(hex(oids.ecdsaWithSha256));
  const beginsAt = new Date(Math.min(Date.now(), given.endsAt.getTime()) - DAY_MS);
  const toSign = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    nameOf(issuer),
    sequence(utcTime(beginsAt), utcTime(given.endsAt)),
    nameOf(subject),
    given.key.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...given.extensions)),
  );
  const whole = sequence(toSign, algorithm, bitString(sign("sha256", toSign, key)));
  return `-----BEGIN CERTIFICATE-----\n${whole.toString("base64")}\n-----END CERTIFICATE-----\n`;
}

function toPem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }).toString();
}

function nameOf(commonName: string): Buffer {
  return sequence(der(0x31, sequence(hex(oids.commonName), der(0x0c, Buffer.from(commonName)))));
}

function extension(oid: string, value: Buffer): Buffer {
  return sequence(hex(oid), der(0x04, value));
}

function utcTime(at: Date): Buffer {
  const digits = at.toISOString().replace(/\D/g, "").slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

function boolean(is: boolean): Buffer {
  return der(0x01, Buffer.from([is ? 0xff : 0]));
}

function integer(bytes: Buffer): Buffer {
  return der(0x02, bytes);
}

function bitString(bytes: Buffer): Buffer {
  return der(0x03, Buffer.concat([Buffer.from([0]), bytes]));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

/** Encodes a tag, a length and the content. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const lengthBytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), content]);
}

function hex(text: string): Buffer {
  return Buffer.from(text, "hex");
}
