import { crc32, deflateRawSync } from "node:zlib";

export interface ZipFile {
  readonly name: string;
  readonly content: Uint8Array | string;
  readonly isStored?: boolean;
  /** False values for the directory. */
  readonly stated?: Partial<Stated>;
  /** Values of the file's own header that differ from the directory. */
  readonly statedLocally?: Partial<Stated>;
}

interface Stated {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  readonly crc32: number;
  readonly compressedBytes: number;
  readonly sizeBytes: number;
  readonly offset: number;
  readonly attributes: number;
  readonly extraBytes: number;
}

interface Shape {
  readonly comment?: string;
  /** False values for the end record. */
  readonly end?: { readonly disk?: number; readonly entries?: number; readonly directoryOffset?: number };
}

const UTF8 = 0x0800;

/** Makes a zip of these files, true or false. */
export function makeZip(files: readonly ZipFile[], { comment = "", end = {} }: Shape = {}): Buffer {
  const parts: Buffer[] = [];
  const headers: Buffer[] = [];
  let offset = 0;
  for (const file of files) {
    const content = Buffer.from(file.content);
    const packed = file.isStored ? content : deflateRawSync(content);
    const truth: Stated = {
      name: file.name,
      flags: UTF8,
      method: file.isStored ? 0 : 8,
      crc32: crc32(content),
      compressedBytes: packed.length,
      sizeBytes: content.length,
      offset,
      attributes: 0,
      extraBytes: 0,
    };
    const local = localHeader({ ...truth, ...file.stated, ...file.statedLocally });
    headers.push(directoryHeader({ ...truth, ...file.stated }));
    parts.push(local, packed);
    offset += local.length + packed.length;
  }
  const directory = Buffer.concat(headers);
  return Buffer.concat([...parts, directory, endRecord({ directory, offset, count: files.length, comment, end })]);
}

function localHeader(stated: Stated): Buffer {
  const name = Buffer.from(stated.name);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(stated.flags, 6);
  header.writeUInt16LE(stated.method, 8);
  header.writeUInt32LE(stated.crc32, 14);
  header.writeUInt32LE(stated.compressedBytes, 18);
  header.writeUInt32LE(stated.sizeBytes, 22);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(stated.extraBytes, 28);
  return Buffer.concat([header, name]);
}

function directoryHeader(stated: Stated): Buffer {
  const name = Buffer.from(stated.name);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(stated.flags, 8);
  header.writeUInt16LE(stated.method, 10);
  header.writeUInt32LE(stated.crc32, 16);
  header.writeUInt32LE(stated.compressedBytes, 20);
  header.writeUInt32LE(stated.sizeBytes, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt32LE(stated.attributes, 38);
  header.writeUInt32LE(stated.offset, 42);
  return Buffer.concat([header, name]);
}

interface End {
  readonly directory: Buffer;
  readonly offset: number;
  readonly count: number;
  readonly comment: string;
  readonly end: NonNullable<Shape["end"]>;
}

function endRecord({ directory, offset, count, comment, end }: End): Buffer {
  const record = Buffer.alloc(22);
  record.writeUInt32LE(0x06054b50, 0);
  record.writeUInt16LE(end.disk ?? 0, 4);
  record.writeUInt16LE(end.entries ?? count, 8);
  record.writeUInt16LE(end.entries ?? count, 10);
  record.writeUInt32LE(directory.length, 12);
  record.writeUInt32LE(end.directoryOffset ?? offset, 16);
  record.writeUInt16LE(Buffer.byteLength(comment), 20);
  return Buffer.concat([record, Buffer.from(comment)]);
}
