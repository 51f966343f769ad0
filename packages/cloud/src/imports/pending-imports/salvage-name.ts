import { nameWithoutExtension } from "@downlink/recordings";

const ENDING = ".salvage.mcap";
/** The longest name that an upload may have. */
const MAX_LENGTH = 4096;

/** Names the salvage of a file: `runs/drive.bag` becomes `runs/drive.salvage.mcap`. */
export function salvageNameOf(filename: string): string {
  const name = filename.slice(filename.lastIndexOf("/") + 1);
  const folder = filename.slice(0, filename.length - name.length);
  const stem = nameWithoutExtension(name) || "recording";
  return `${folder}${stem}`.slice(0, MAX_LENGTH - ENDING.length).toWellFormed() + ENDING;
}
