const ENDING = ".salvage.mcap";
/** The name of an upload may be so long. */
const MAX_LENGTH = 4096;

/** What the salvage of a file is called: `runs/drive.bag` becomes `runs/drive.salvage.mcap`. */
export function salvageNameOf(filename: string): string {
  const name = filename.slice(filename.lastIndexOf("/") + 1);
  const folder = filename.slice(0, filename.length - name.length);
  const stem = name.replace(/(\.(mcap|bag|active))+$/i, "") || "recording";
  return `${folder}${stem}`.slice(0, MAX_LENGTH - ENDING.length).toWellFormed() + ENDING;
}
