import type { ExportSelection } from "@downlink/recordings";
import { DRIVE_START_NS } from "@downlink/recordings/testing";
import type { PeerReads } from "./measure-child.ts";

/** A copy of the file by `cp`, or the same export by a program in C++ or by the MCAP library's indexed reader and writer. */
export type Reference = "cp" | Peer;
export type Peer = "cpp" | "library";

/** An export, and the highest ratio of its time to a reference. */
export interface Case {
  name: string;
  file: "sensors-zstd" | "sensors-none" | "small-zstd" | "small-none";
  compression: "" | "lz4" | "zstd";
  reference: "cp" | "peer";
  /** Absent: the ratio is only reported. */
  mostRatio: Partial<Record<Reference, number>>;
  peerReads?: PeerReads;
  selection: ExportSelection;
}

/** These topics are in every chunk, so that no chunk can be passed on. */
const allButImu = [
  "/camera",
  "/cloud",
  "/odom",
  "/tf",
  "/joints",
  "/gps",
  "/log",
  "/battery",
  "/diagnostics",
  "/events",
];
const nineOfTen = Array.from({ length: 9 }, (_, index) => `/small/${index}`);

/** `scale` as in `DriveSpec`: a window keeps its share of the time. */
export function casesOf(scale: number): Case[] {
  return [...wholeFiles(), ...withoutOneTopic(), ...smallTopics(), windowOfSixth(scale)];
}

function wholeFiles(): Case[] {
  const cp = { reference: "cp", mostRatio: { cp: 1.3 }, selection: {} } as const;
  const toLz4 = { name: "whole, zstd to lz4", file: "sensors-zstd", compression: "lz4" } as const;
  return [
    { ...cp, name: "whole, zstd", file: "sensors-zstd", compression: "zstd" },
    { ...cp, name: "whole, uncompressed", file: "sensors-none", compression: "" },
    { ...cp, name: "whole, small messages, uncompressed", file: "small-none", compression: "" },
    { ...toLz4, reference: "peer", mostRatio: {}, selection: {} },
  ];
}

function withoutOneTopic(): Case[] {
  const sensors = { reference: "peer", selection: { topics: allButImu } } as const;
  const small = { reference: "peer", selection: { topics: nineOfTen } } as const;
  return [
    {
      ...sensors,
      mostRatio: { cpp: 1, library: 0.5 },
      name: "without one topic, none to none",
      file: "sensors-none",
      compression: "",
    },
    {
      ...sensors,
      mostRatio: { cpp: 0.8, library: 0.5 },
      name: "without one topic, zstd to zstd",
      file: "sensors-zstd",
      compression: "zstd",
    },
    {
      ...small,
      mostRatio: { cpp: 1, library: 0.5 },
      name: "small messages without one topic, none to none",
      file: "small-none",
      compression: "",
    },
    {
      ...small,
      mostRatio: { library: 0.5 },
      name: "small messages without one topic, zstd to zstd",
      file: "small-zstd",
      compression: "zstd",
    },
  ];
}

/** `/imu` is in every chunk, `/events` in a third of them. */
function smallTopics(): Case[] {
  const topic = (name: string) => ({ reference: "peer", selection: { topics: [name] } }) as const;
  return [
    {
      ...topic("/imu"),
      mostRatio: { cpp: 0.8 },
      name: "one small topic, uncompressed",
      file: "sensors-none",
      compression: "",
      peerReads: "chunk",
    },
    {
      ...topic("/imu"),
      mostRatio: {},
      name: "one small topic, uncompressed, both by index",
      file: "sensors-none",
      compression: "",
      peerReads: "index",
    },
    {
      ...topic("/imu"),
      mostRatio: { cpp: 0.9, library: 0.35 },
      name: "one small topic, zstd",
      file: "sensors-zstd",
      compression: "zstd",
    },
    {
      ...topic("/events"),
      mostRatio: { cpp: 0.7 },
      name: "one small topic in a third of the chunks, zstd",
      file: "sensors-zstd",
      compression: "zstd",
    },
  ];
}

/** The window has 10 of 60 seconds. */
function windowOfSixth(scale: number): Case {
  const at = (second: number): bigint => DRIVE_START_NS + BigInt(Math.round(second * scale * 1e9));
  return {
    reference: "peer",
    mostRatio: { cpp: 0.3, library: 0.2 },
    name: "a window of a sixth, zstd",
    file: "sensors-zstd",
    compression: "zstd",
    selection: { startNs: at(20), endNs: at(30) },
  };
}
