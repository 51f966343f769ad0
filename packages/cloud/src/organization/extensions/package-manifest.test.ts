import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { ApiError } from "../../core/errors.ts";
import { readManifest } from "./package-manifest.ts";
import { makeZip, type ZipFile } from "./testing/make-zip.ts";

const manifest = { name: "turtle", publisher: "acme", version: "1.0.0", displayName: "Turtle" };
const packageJson: ZipFile = { name: "package.json", content: JSON.stringify(manifest) };
const other: ZipFile = { name: "dist/extension.js", content: "x".repeat(5000) };

function read(zip: Uint8Array) {
  return readManifest({
    sizeBytes: zip.length,
    async read(offset, length) {
      if (offset < 0 || length < 0 || offset + length > zip.length) throw new RangeError("outside of the package");
      return zip.subarray(offset, offset + length);
    },
  });
}

function refusal(message: RegExp) {
  return (error: unknown) =>
    error instanceof ApiError && error.status === 400 && (message.test(error.message) || assert.fail(error.message));
}

test("the manifest is read from the root of the package, compressed or not, wherever it stands", async () => {
  for (const files of [
    [packageJson],
    [other, { ...packageJson, isStored: true }],
    [{ name: "dist/", content: "" }, other, packageJson, { name: "a/package.json", content: "{}" }],
  ])
    assert.deepEqual(await read(makeZip(files)), manifest);
  assert.deepEqual(await read(makeZip([packageJson], { comment: "PK\u0005\u0006 ".repeat(5) })), manifest);
});

test("other fields of the manifest are ignored, and so is space around it; a byte order mark is harmless", async () => {
  const content = `\ufeff${JSON.stringify({ ...manifest, name: " turtle ", description: "d\n✓", main: "x", files: [] })}`;
  assert.deepEqual(await read(makeZip([{ name: "package.json", content }])), { ...manifest, description: "d\n✓" });
});

for (const [what, change] of [
  ["no name", { name: undefined }],
  ["no publisher", { publisher: undefined }],
  ["no version", { version: undefined }],
  ["no displayName", { displayName: undefined }],
  ["an empty displayName", { displayName: " " }],
  ["a version that is no text", { version: 1 }],
  ["a name that is a segment of a path", { name: ".." }],
  ["a publisher with such a segment", { publisher: "a/../b" }],
  ["a version that is one", { version: "." }],
  ["half of a surrogate pair", { description: "\ud800" }],
  ["a name of 257 characters", { name: "x".repeat(257) }],
  ["a line break in the publisher", { publisher: "a\nb" }],
  ["a description that is no text", { description: {} }],
] as const)
  test(`a manifest with ${what} is refused, and the error names the place`, async () => {
    const content = JSON.stringify({ ...manifest, ...change });
    const field = Object.keys(change)[0]!;
    const zip = makeZip([{ name: "package.json", content }]);
    await assert.rejects(read(zip), refusal(new RegExp(`^package\\.json\\.${field} (must|may|is) `)));
  });

const files = (more: Partial<ZipFile>): ZipFile[] => [other, { ...packageJson, ...more }];
const refused: [what: string, zip: Uint8Array, message: RegExp][] = [
  ["nothing", Buffer.alloc(0), /no zip/],
  ["text", Buffer.from("hello ".repeat(100)), /no zip/],
  ["a cut zip", makeZip(files({})).subarray(0, -1), /no zip/],
  ["a zip with bytes behind", Buffer.concat([makeZip(files({})), Buffer.from("x")]), /no zip/],
  ["a zip with bytes in front", Buffer.concat([Buffer.from("#!/bin/sh\n"), makeZip(files({}))]), /bytes before/],
  ["an empty zip", makeZip([]), /no package\.json/],
  ["a manifest in a folder only", makeZip(files({ name: "x/package.json" })), /no package\.json/],
  ["a manifest in another case only", makeZip(files({ name: "Package.json" })), /no package\.json/],
  ["a manifest that is no JSON", makeZip(files({ content: "{" })), /no JSON/],
  ["a manifest that is no object", makeZip(files({ content: "[]" })), /must be an object/],
  ["a manifest that is not UTF-8", makeZip(files({ content: Buffer.from('{"name":"\xff"}', "latin1") })), /UTF-8/],
  ["a manifest above 1 MiB", makeZip(files({ content: " ".repeat(2 ** 20 + 1) })), /1048577 bytes/],
  ["a manifest larger than stated", makeZip(files({ stated: { sizeBytes: 10 } })), /damaged/],
  ["a manifest smaller than stated", makeZip(files({ stated: { sizeBytes: 1000 } })), /damaged/],
  ["a manifest with another checksum", makeZip(files({ stated: { crc32: 1 } })), /damaged/],
  ["a manifest that does not unpack", makeZip(files({ stated: { method: 8 }, isStored: true })), /damaged/],
  ["an unknown method", makeZip(files({ stated: { method: 14 } })), /method 14/],
  ["another name in the file's header", makeZip(files({ statedLocally: { name: "package.jsoN" } })), /one thing/],
  ["another method in the file's header", makeZip(files({ statedLocally: { method: 0 } })), /one thing/],
  [
    "a header that claims bytes beyond the end",
    makeZip(files({ statedLocally: { extraBytes: 65_535 } })),
    /ends before/,
  ],
  ["an encrypted manifest", makeZip(files({ stated: { flags: 1 } })), /encrypted/],
  ["an encrypted file beside it", makeZip([packageJson, { ...other, stated: { flags: 0x41 } }]), /encrypted/],
  ["a symbolic link", makeZip([packageJson, { ...other, stated: { attributes: 0xa1ff0000 } }]), /symbolic link/],
  ["a manifest twice", makeZip(files({}).concat(packageJson)), /twice/],
  ["names that differ in case only", makeZip(files({}).concat({ ...other, name: "DIST/extension.js" })), /twice/],
  ["files that share bytes", makeZip([packageJson, other, { ...other, name: "b", stated: { offset: 0 } }]), /own/],
  ["a file that reaches into the directory", makeZip(files({ stated: { compressedBytes: 10_000 } })), /own/],
  ["a file at an offset beyond", makeZip(files({ stated: { offset: 0xffff_fffe } })), /own/],
  ["zip64 sizes", makeZip([packageJson, { ...other, stated: { sizeBytes: 0xffff_ffff } }]), /unpacks to/],
  ["a zip64 end", makeZip(files({}), { end: { entries: 0xffff, directoryOffset: 0xffff_ffff } }), /zip64/],
  ["one of several disks", makeZip(files({}), { end: { disk: 1 } }), /one of several/],
  ["fewer files than stated", makeZip(files({}), { end: { entries: 3 } }), /states 3/],
];
for (const name of ["/etc/passwd", "../x", "a/../../x", "a//b", "./x", "a\\..\\x", "C:/x", "", "a\0b", "\\\\host\\x"])
  refused.push([`the name ${JSON.stringify(name)}`, makeZip([packageJson, { ...other, name }]), /with the name/]);

for (const [what, zip, message] of refused)
  test(`${what} is refused with a sentence`, () => assert.rejects(read(zip), refusal(message)));

test("a package that unpacks to more than 1 GiB is refused unread", async () => {
  const bomb = { name: "bomb", content: deflateRawSync(Buffer.alloc(1000)), stated: { sizeBytes: 2 ** 30 } };
  await assert.rejects(read(makeZip([bomb, packageJson])), refusal(/unpacks to/));
});

test("any damage to a package gives a manifest or a refusal, and never another failure", async () => {
  const whole = makeZip([other, packageJson], { comment: "c" });
  const damage = fc.array(fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(damage, fc.nat(whole.length), async (changes, cut) => {
      const damaged = Buffer.from(whole);
      for (const { at, byte } of changes) damaged[at] = byte;
      for (const zip of [damaged, damaged.subarray(cut), damaged.subarray(0, cut)])
        await read(zip).catch((error: unknown) => assert.ok(error instanceof ApiError && error.status === 400));
    }),
    { numRuns: 500 },
  );
});
