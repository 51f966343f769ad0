import type { ExportSelection } from "@downlink/recordings";
import { driveStartNs } from "@downlink/recordings/testing";

/** What is exported, and in which time compared with what. */
export interface Case {
  name: string;
  file: "sensors-zstd" | "sensors-none" | "small-zstd" | "small-none";
  compression: "" | "lz4" | "zstd";
  /** A copy of the file by `cp`, or the same export by the MCAP library's indexed reader and writer. */
  reference: "cp" | "library";
  /** Absent: only reported. */
  mostRatio?: number;
  selection: ExportSelection;
}

/** In every chunk, so that none can be passed on. */
const allButImu = ["/camera", "/cloud", "/odom", "/tf", "/joints", "/gps", "/log", "/battery", "/diagnostics"];
const nineOfTen = Array.from({ length: 9 }, (_, index) => `/small/${index}`);

/** `scale` as in `DriveSpec`: a window keeps its share of the time. */
export function casesOf(scale: number): Case[] {
  const at = (second: number): bigint => driveStartNs + BigInt(Math.round(second * scale * 1e9));
  const cp = { reference: "cp", mostRatio: 1.3, selection: {} } as const;
  const library = { reference: "library", mostRatio: 0.5 } as const;
  const sensors = { ...library, selection: { topics: allButImu } };
  const small = { ...library, selection: { topics: nineOfTen } };
  return [
    { ...cp, name: "whole, zstd", file: "sensors-zstd", compression: "zstd" },
    { ...cp, name: "whole, uncompressed", file: "sensors-none", compression: "" },
    { ...cp, name: "whole, small messages, uncompressed", file: "small-none", compression: "" },
    { ...sensors, name: "without one topic, zstd to zstd", file: "sensors-zstd", compression: "zstd" },
    { ...sensors, name: "without one topic, none to none", file: "sensors-none", compression: "" },
    {
      ...sensors,
      mostRatio: undefined,
      name: "whole, zstd to lz4",
      file: "sensors-zstd",
      compression: "lz4",
      selection: {},
    },
    { ...small, name: "small messages without one topic, zstd to zstd", file: "small-zstd", compression: "zstd" },
    { ...small, name: "small messages without one topic, none to none", file: "small-none", compression: "" },
    {
      ...library,
      mostRatio: 0.35,
      name: "one small topic of ten",
      file: "sensors-zstd",
      compression: "zstd",
      selection: { topics: ["/imu"] },
    },
    {
      ...library,
      mostRatio: 0.2,
      name: "a window of a sixth",
      file: "sensors-zstd",
      compression: "zstd",
      selection: { startNs: at(20), endNs: at(30) },
    },
  ];
}
