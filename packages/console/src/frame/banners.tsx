import { useEffect, useState } from "preact/hooks";
import { askAgain, awaySinceMs } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { CrashNote } from "./crash.tsx";
import { missingPart } from "./missing-part.tsx";

const SECOND_MS = 1000;
/** How often a service that is away is asked whether it is back. */
const RETRY_SECONDS = 8;

const MISSING = {
  replaced: "A new version of these pages is here.",
  broken: "A part of this page could not be loaded.",
} as const;

/** Says what holds for all pages: that the service is away, that there is a newer version, that a page failed. */
export function Banners() {
  return (
    <>
      {awaySinceMs.value !== undefined && <AwayNote sinceMs={awaySinceMs.value} />}
      {missingPart.value && missingPart.value !== "away" && (
        <div class="banner" role="status">
          <span>{MISSING[missingPart.value]}</span>
          <Button text="Reload" class="small" onClick={() => location.reload()} />
        </div>
      )}
      <CrashNote />
    </>
  );
}

function AwayNote({ sinceMs }: { sinceMs: number }) {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((nowMs - sinceMs) / SECOND_MS));
  const left = RETRY_SECONDS - (seconds % RETRY_SECONDS);
  useEffect(() => {
    if (left === RETRY_SECONDS && seconds > 0) askAgain();
  }, [left]);
  return (
    <div class="banner danger" role="alert">
      <span>
        The control plane has not answered for {seconds} s. This page shows earlier data. Next try in {left} s.
      </span>
      <Button text="Try now" class="small" onClick={askAgain} />
    </div>
  );
}
