let next = process.pid * 64;

/**
 * Returns a port on which a test may listen later, or again. It is below the ports that systems give to connections, so that no connection
 * takes it meanwhile. No other test has it, but another program may.
 */
export function stablePort(): number {
  return 10_000 + (next++ % 22_000);
}
