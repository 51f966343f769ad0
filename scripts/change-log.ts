export interface Change {
  /** The part of the sources that it is about: what stands before the colon of a commit's title. */
  readonly area: string;
  readonly sentence: string;
}

/** These change nothing for who runs a program. */
const OF_DEVELOPERS = new Set(["tests", "test", "scripts", "ci", "release", "bench"]);
const HEAD = "# Changes\n";

/** Reads the titles of commits, of which the first area counts; those that only developers see are left out. */
export function readChanges(titles: readonly string[]): Change[] {
  return titles.flatMap((title) => {
    const [, area, sentence] = /^([a-z][\w-]*)(?:, [\w, -]+)?: (.+)$/.exec(title) ?? [];
    return area === undefined || OF_DEVELOPERS.has(area) ? [] : [{ area, sentence: sentence! }];
  });
}

/** Returns the text of the log with the section of a version as its first, or in the place of the one that it had. */
export function writeSection(log: string, { version, day, changes }: Section): string {
  const areas = [...Map.groupBy(changes, ({ area }) => area)].sort(([a], [b]) => (a < b ? -1 : 1));
  const lists = areas.map(([area, list]) => `### ${area}\n\n${list.map(({ sentence }) => `- ${sentence}\n`).join("")}`);
  const section = `## ${version} (${day})\n\n${lists.join("\n")}`;
  const former = log.replace(HEAD, "").split(/^(?=## )/m);
  const others = former.filter((one) => one.startsWith("## ") && !one.startsWith(`## ${version} `));
  return [HEAD, section, ...others.map((one) => `${one.trimEnd()}\n`)].join("\n");
}

interface Section {
  readonly version: string;
  /** As YYYY-MM-DD. */
  readonly day: string;
  readonly changes: readonly Change[];
}
