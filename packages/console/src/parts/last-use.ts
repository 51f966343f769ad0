/** A use is known to the minute: that of a new token may seem to lie before it was made. */
export function lastUse({ createdAt, lastUsedAt }: { createdAt: bigint; lastUsedAt: bigint }): bigint {
  return lastUsedAt < createdAt ? createdAt : lastUsedAt;
}
