import { formatBytes } from "../parts/bytes.ts";
import { formatDuration } from "../time/format-time.ts";
import { rateOf } from "./rate.ts";
import type { UploadState } from "./upload-state.ts";
import type { Upload } from "./uploads.ts";

/** Says where an upload is. */
export function textOf(upload: Pick<Upload, "state" | "size" | "samples">): string {
  const { state, size } = upload;
  const sent = percent(state.sentBytes, size);
  switch (state.phase) {
    case "waiting":
      return "Waits for its turn";
    case "checking":
      return `Checking ${percent(state.checkedBytes, size)}`;
    case "sending":
      return [sent, ...pace(upload)].join(" · ");
    case "away":
      return `${sent} · Waiting for the control plane`;
    case "signedOut":
      return `${sent} · Waiting until you sign in`;
    case "paused":
      return `${sent} · Paused`;
    case "importing":
      return "Being imported";
    case "imported":
      return state.recordingId === undefined ? "Sent, to be imported" : "Imported";
    case "existing":
      return "Was here before";
    case "failed":
      return state.problem ?? "It failed.";
    case "interrupted":
      return `${sent}: choose the file again to go on`;
  }
}

/** A file is whole when its last byte is there, and not before. */
function percent(bytes: number, size: number): string {
  return `${Math.floor((Math.min(bytes, size) / size) * 100)} %`;
}

function pace({ state, size, samples }: Pick<Upload, "state" | "size" | "samples">): string[] {
  const rate = rateOf(samples);
  if (rate === undefined) return [];
  const seconds = Math.ceil((size - state.sentBytes) / rate);
  const rough = seconds < 60 ? seconds : Math.ceil(seconds / 60) * 60;
  return [`${formatBytes(rate)}/s`, ...(seconds > 0 ? [`${formatDuration(BigInt(rough) * 1_000_000_000n)} left`] : [])];
}

/** Sums up all uploads in a line that changes only when one of them is done, fails or waits. */
export function sumUp(all: readonly Pick<Upload, "state">[]): string {
  const count = (...phases: readonly UploadState["phase"][]) =>
    all.filter(({ state }) => phases.includes(state.phase)).length;
  const parts = [
    [count("failed"), "failed"],
    [count("paused"), "paused"],
    [count("interrupted"), "interrupted"],
    [count("away", "signedOut"), "waiting"],
  ] as const;
  const done = `${count("importing", "imported", "existing")} of ${all.length} uploaded`;
  return [done, ...parts.flatMap(([many, word]) => (many > 0 ? [`${many} ${word}`] : []))].join(" · ");
}
