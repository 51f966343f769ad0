import { buildAutomaton } from "./glob-automaton.ts";
import { foldCase, parseGlob } from "./parse-glob.ts";

export { checkPattern, compilePattern, countWildcards, type Pattern } from "./patterns.ts";

/** The most globs and UTF-16 code units that one setting may have. */
export const globLimits = { globs: 100, characters: 500, charactersInAll: 5000 } as const;

/** The most states that the automata of one setting remember, which is some megabytes. */
const MAX_KEPT = 200_000;

export interface GlobOptions {
  /** By default letters match whatever their case. */
  readonly isCaseSensitive?: boolean;
}

/**
 * Answers whether a path, separated by slashes and without a slash in front, fits one of the globs. It takes time linear in the path,
 * whatever the globs are, because they come from outside. Throws a RangeError with a sentence for what is no glob, or more than
 * `globLimits`.
 */
export function compileGlobs(globs: readonly string[], options: GlobOptions = {}): (path: string) => boolean {
  checkGlobs(globs);
  const fold = options.isCaseSensitive ? (unit: string) => unit : foldCase;
  const parsed = globs.map((glob) => parseGlob(glob, fold));
  const [plain, negated] = [parsed.filter(({ isNegated }) => !isNegated), parsed.filter(({ isNegated }) => isNegated)];
  const maxKept = MAX_KEPT / (negated.length + 1);
  const isMatch = buildAutomaton(
    plain.map(({ node }) => node),
    { fold, maxKept },
  );
  const refusals = negated.map((glob) => buildAutomaton([glob.node], { fold, maxKept }));
  const texts = new Set(globs); // A file's whole name means that file, whatever characters are in it.
  return (path) => texts.has(path) || isMatch(path) || refusals.some((isRefused) => !isRefused(path));
}

/** Throws a RangeError as {@link compileGlobs} does. */
export function checkGlob(glob: string): void {
  requireShort(glob);
  parseGlob(glob, foldCase);
}

/** Throws a RangeError as {@link compileGlobs} does, also if the globs are too many or too long together. */
export function checkGlobs(globs: readonly string[]): void {
  if (globs.length > globLimits.globs)
    throw new RangeError(`there are ${globs.length} globs; at most ${globLimits.globs} are allowed`);
  for (const glob of globs) requireShort(glob);
  const characters = globs.reduce((sum, { length }) => sum + length, 0);
  if (characters > globLimits.charactersInAll)
    throw new RangeError(
      `the globs have ${characters} characters together; at most ${globLimits.charactersInAll} are allowed`,
    );
}

function requireShort(glob: string): void {
  if (glob.length > globLimits.characters)
    throw new RangeError(
      `"${glob.slice(0, 40)}…" has ${glob.length} characters; a glob has at most ${globLimits.characters}`,
    );
}
