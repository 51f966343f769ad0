import { ErrorBoundary } from "preact-iso";
import { isTrayWanted } from "../browser/upload-tray.ts";
import { reportCrash } from "../frame/crash.tsx";
import { lazyPart } from "../frame/lazy-part.ts";

const Tray = lazyPart(() => import("./tray.tsx").then((part) => part.Tray));

/** The place of the tray, which is loaded where there is something to show. */
export function UploadSlot() {
  if (!isTrayWanted.value) return null;
  return (
    <ErrorBoundary onError={reportCrash}>
      <Tray />
    </ErrorBoundary>
  );
}
