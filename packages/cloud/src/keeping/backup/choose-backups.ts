/** Which complete backups stay in a place: those that one of these numbers keeps. The default of each is 0, and the newest one always stays. */
export interface Retention {
  /** The newest backups. */
  readonly last?: number;
  /** Days of UTC that have a backup: the newest of each stays. */
  readonly daily?: number;
  /** The same of weeks, which begin on Monday. */
  readonly weekly?: number;
  /** The same of months. */
  readonly monthly?: number;
}

const DAY_MS = 86_400_000;
/** The first day of 1970 was a Thursday. */
const DAYS_SINCE_MONDAY = 3;

/** Chooses the names of the backups that stay. */
export function chooseBackups(names: readonly string[], retention: Retention): string[] {
  const newestFirst = [...names].sort().reverse();
  const { last = 0, daily = 0, weekly = 0, monthly = 0 } = retention;
  return [
    ...new Set([
      ...newestFirst.slice(0, Math.max(1, last)),
      ...newestOfEach(newestFirst, dayOf).slice(0, daily),
      ...newestOfEach(newestFirst, weekOf).slice(0, weekly),
      ...newestOfEach(newestFirst, monthOf).slice(0, monthly),
    ]),
  ];
}

function newestOfEach(newestFirst: readonly string[], periodOf: (name: string) => string): string[] {
  const seen = new Set<string>();
  return newestFirst.filter((name) => !seen.has(periodOf(name)) && seen.add(periodOf(name)));
}

const dayOf = (name: string) => name.slice(0, 8);
const monthOf = (name: string) => name.slice(0, 6);

function weekOf(name: string): string {
  const day = Date.parse(`${name.slice(0, 4)}-${name.slice(4, 6)}-${name.slice(6, 8)}`) / DAY_MS;
  return String(Math.floor((day + DAYS_SINCE_MONDAY) / 7));
}
