import type { Module } from "./find-circles.ts";

/** The rooms from top to bottom, and the files that another room may import; paths start at `packages/cloud/src/`. */
export interface House {
  readonly rooms: readonly string[];
  readonly doors: readonly string[];
}

const ROOMS = "packages/cloud/src/";
const OUTSIDE = /\.(slow|suite|test|types|machine)\.ts$|\/testing(\/|\.ts$)|\/generated\//;

/** Reads the rooms from the table of the README, and the doors from a list with one path in a line and notes behind `#`. */
export function readHouse(readme: string, list: string): House {
  return {
    rooms: [...readme.matchAll(/^\| `([\w-]+)\/` \|/gm)].map(([, name]) => name!),
    doors: list.split("\n").filter((line) => line !== "" && !line.startsWith("#")),
  };
}

/**
 * The rule of doors: a file imports from another room only a door, and only of a room below its own; a door that no other room imports is
 * closed. Returns one sentence for each violation.
 */
export function findOpenedDoors(modules: readonly Module[], { rooms, doors }: House): string[] {
  const all = crossings(modules);
  const used = new Set(all.map(({ target }) => target));
  return [
    ...all.filter(({ target }) => !doors.includes(target)).map((each) => `${describe(each)}, which is no door`),
    ...all.filter((each) => goesUp(each, rooms)).map((each) => `${describe(each)}, of a room above its own`),
    ...doors.filter((door) => !used.has(door)).map((door) => `no other room imports ${door}: it is no door any more`),
  ];
}

function describe({ source, target }: Crossing): string {
  return `${source} imports ${target}`;
}

/** The root stands above all rooms. */
function goesUp({ source, target }: Crossing, rooms: readonly string[]): boolean {
  return roomOf(source) !== "" && rooms.indexOf(roomOf(target)) < rooms.indexOf(roomOf(source));
}

interface Crossing {
  readonly source: string;
  readonly target: string;
}

/** Finds imports from one room, or from the root, into another room. */
function crossings(modules: readonly Module[]): Crossing[] {
  const inside = modules.filter(({ source }) => isInside(source));
  const imports = inside.flatMap(({ source, imports }) => imports.filter(isInside).map((target) => [source, target]));
  return imports
    .map(([source, target]) => ({ source: source!.slice(ROOMS.length), target: target!.slice(ROOMS.length) }))
    .filter(({ source, target }) => roomOf(target) !== "" && roomOf(target) !== roomOf(source));
}

function isInside(path: string): boolean {
  return path.startsWith(ROOMS) && !OUTSIDE.test(path);
}

/** Returns the name of the folder of `src` that a file is in; the root has none. */
function roomOf(path: string): string {
  return path.includes("/") ? path.split("/")[0]! : "";
}
