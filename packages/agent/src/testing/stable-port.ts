let next = process.pid * 64;

/**
 * A port on which a test may listen later, or again: below those that systems give to connections, nobody takes it meanwhile.
 * No other test has it, but another program may.
 */
export function stablePort(): number {
  return 10_000 + (next++ % 22_000);
}
