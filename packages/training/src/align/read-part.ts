import { findImage } from "@downlink/messages/image-bytes";
import { isNumberArray, isStruct, MAX_DEPTH, partOf, type Value } from "@downlink/messages/value";
import { readRawPicture } from "@downlink/pictures/raw-picture";
import type { FeaturePart } from "@downlink/protocol";
import { NoValueError } from "./no-value-error.ts";

/** One value of a row. */
export type Cell = number | bigint | boolean | string;

/** The values of one message for a part of a feature. */
export interface PartValues {
  readonly cells: readonly Cell[];
  /** A name for each value, where names are wanted. */
  readonly names: readonly string[] | undefined;
}

/** Returns the value at the end of the path, with points between its names; undefined: the message has no such field. */
export function valueAt(message: Value, path: string | undefined): Value | undefined {
  if (path === undefined) return message;
  return path.split(".").reduce<Value | undefined>((value, name) => partOf(value, name), message);
}

/** Reads the numbers, texts or truths of a part, in the order of its selection; their names only if they are wanted. Throws {@link NoValueError}. */
export function readPart(part: FeaturePart, message: Value, { isNamed = false } = {}): PartValues {
  const value = valueAt(message, part.field);
  if (value === undefined) throw new NoValueError(`has no field ${part.field}`);
  const all = { cells: [] as Cell[], names: isNamed ? ([] as string[]) : undefined };
  collect(value, { name: part.field ?? "", depth: 0 }, all);
  if (part.byName) return pick(all, placesOf(message, part.byName), part.byName.select);
  if (part.select) return pick(all, part.select);
  if (all.cells.length === 0) throw new NoValueError(`has no value in ${part.field ?? "it"}`);
  return all;
}

/** The most values that one message gives a part. */
const MAX_CELLS = 65_536;

interface Place {
  readonly name: string;
  readonly depth: number;
}

interface Collecting {
  readonly cells: Cell[];
  readonly names: string[] | undefined;
}

function collect(value: Value, { name, depth }: Place, all: Collecting): void {
  if (depth > MAX_DEPTH) throw new NoValueError(`has parts more than ${MAX_DEPTH} deep in each other in ${name}`);
  if (all.cells.length >= MAX_CELLS) throw new NoValueError(`has more than ${MAX_CELLS} values in ${name}`);
  if (value === null) throw new NoValueError(`has no value in ${name}`);
  // Names are made of the first message alone: they are the same in all others.
  const below = (key: string | number): Place => {
    const prefix = name === "" ? "" : `${name}.`;
    return { name: all.names ? `${prefix}${key}` : name, depth: depth + 1 };
  };
  if (isStruct(value)) {
    for (const [key, inner] of Object.entries(value)) collect(inner, below(key), all);
  } else if (Array.isArray(value) || isNumberArray(value)) {
    for (const [place, inner] of (value as Value[]).entries()) collect(inner, below(place), all);
  } else {
    all.cells.push(value as Cell);
    all.names?.push(name);
  }
}

function pick(all: PartValues, places: readonly number[], names?: readonly string[]): PartValues {
  const beyond = places.find((place) => place >= all.cells.length);
  if (beyond !== undefined) throw new NoValueError(`has ${all.cells.length} values and none at place ${beyond}`);
  return {
    cells: places.map((place) => all.cells[place]!),
    names: names ?? (all.names && places.map((place) => all.names![place]!)),
  };
}

function placesOf(message: Value, { names: path, select }: NonNullable<FeaturePart["byName"]>): number[] {
  const names = valueAt(message, path);
  if (!Array.isArray(names)) throw new NoValueError(`has no list of names in ${path}`);
  const places = new Map(names.map((name, place) => [name, place]));
  return select.map((name) => places.get(name) ?? throwUnnamed(name, path));
}

function throwUnnamed(name: string, path: string): never {
  throw new NoValueError(`has no ${name} in ${path}`);
}

/** A picture of a message, whose bytes may have to be made first. */
export interface FoundPicture {
  readonly width: number;
  readonly height: number;
  readonly mediaType: "image/jpeg" | "image/png";
  /** About how many bytes it has. */
  readonly sizeBytes: number;
  /** Returns bytes of their own: those of the recording, or a PNG of its pixels. */
  read(): Uint8Array;
}

/** Finds the picture of a message. Throws {@link NoValueError} or a DecodeError. */
export function findPicture(part: FeaturePart, message: Value): FoundPicture {
  const value = valueAt(message, part.field);
  if (value === undefined) throw new NoValueError(`has no field ${part.field}`);
  const raw = readRawPicture(value);
  if (raw) {
    const { width, height } = raw;
    return { width, height, mediaType: "image/png", sizeBytes: width * height * RAW_SHARE, read: () => raw.toPng() };
  }
  const { bytes, ...facts } = findImage(value);
  return { ...facts, sizeBytes: bytes.byteLength, read: () => bytes.slice() };
}

/** Bytes of a PNG for each pixel, as cameras see the world. */
const RAW_SHARE = 2;
