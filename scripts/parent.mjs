const LOOK_MS = 500;

/** Calls `act` once, soon after the process that started this one has ended, in whatever way. It does not keep the process alive. */
export function whenParentIsGone(act) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    act();
  }, LOOK_MS);
  timer.unref();
}
