/** Returns why a long test is skipped in CI, where a build must end within 25 minutes: it is run by hand before a release. */
export function whyNotInCi(): string | undefined {
  if (!process.env.CI) return undefined;
  const folders = "e2e/src/replicas e2e/src/pages e2e/src/restores";
  const reason = `NOT TESTED in CI, because it takes minutes: npm test -- --slow ${folders}`;
  console.error(reason);
  return reason;
}
