import { type TestFn, type TestOptions, test } from "node:test";

/** The run of all tests sets it, that of the slow ones too. */
export const SLOW_TESTS_VARIABLE = "DOWNLINK_SLOW_TESTS";

export function runsSlowTests(): boolean {
  return process.env[SLOW_TESTS_VARIABLE] !== undefined;
}

/** Returns all cases with `--slow`, and the first ones in `npm test`: of many that differ little, those that differ most come first. */
export function firstCases<T>(count: number, cases: readonly T[]): readonly T[] {
  return runsSlowTests() ? cases : cases.slice(0, count);
}

interface DeclareTest {
  (title: string, act: TestFn): unknown;
  (title: string, options: TestOptions, act: TestFn): unknown;
}

/**
 * Makes a test that runs with `npm test -- --slow` and not with `npm test`: it takes more than a second, and a test beside it shows the
 * promise more cheaply, or the promise is that of a rare case. A file all of whose tests are of this kind is a `*.slow.ts`.
 */
export const slowTest: DeclareTest = runsSlowTests() ? test : () => undefined; // `test` itself, which reports the file that calls it
