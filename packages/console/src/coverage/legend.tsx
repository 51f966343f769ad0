const KEYS = [
  ["imported", "imported"],
  ["on-its-way", "on its way"],
  ["edge-only", "on the device only"],
  ["failed", "failed"],
  ["event", "event"],
  ["unasked", "not loaded yet"],
  ["nothing", "no data"],
] as const;

/** Explains the lanes: each state has a shape of its own. */
export function Legend() {
  return (
    <ul class="legend muted" aria-label="What the lanes show">
      {KEYS.map(([sign, text]) => (
        <li key={sign}>
          <i class={`sign sign-${sign}`} aria-hidden="true" /> {text}
        </li>
      ))}
    </ul>
  );
}
