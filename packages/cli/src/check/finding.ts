/** Something that a LeRobot reader would stumble over, or that is odd. */
export interface Finding {
  readonly check: Check;
  readonly severity: "error" | "warning";
  /** The number of the episode in the set. */
  readonly episode?: number;
  readonly text: string;
}

/**
 * - `metadata`: `meta/info.json` and the columns of the other files in `meta`
 * - `files`: those that are named are there and can be read, and no others would be loaded
 * - `counts`: the totals of `meta/info.json`
 * - `columns`: those of the rows are the features
 * - `episodes`: their numbers and ranges follow each other, and their rows lie there
 * - `lengths`: each has as many rows as it says
 * - `index`, `frames`, `timestamps`: the numbers and times of the rows
 * - `tasks`: they are numbered from 0, and rows name those that there are
 * - `statistics`: they are there
 */
type Check =
  | "metadata"
  | "files"
  | "counts"
  | "columns"
  | "episodes"
  | "lengths"
  | "index"
  | "frames"
  | "timestamps"
  | "tasks"
  | "statistics";

/** Takes a finding, which is an error unless it says otherwise. */
export type Say = (check: Check, text: string, more?: Partial<Pick<Finding, "episode" | "severity">>) => void;
