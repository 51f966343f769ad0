import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { followLink } from "../browser/follow-link.ts";
import { leaveByBack, useLayer } from "../browser/layers.ts";
import { Button } from "./button.tsx";
import { useUnloadGuard } from "./close-guard.tsx";
import { Dialog } from "./dialog.tsx";

/**
 * Guards a page with a form while something in it was changed and not saved: links, Back, and the browser's own ways to leave are asked about.
 * Returns the question.
 */
export function useLeaveGuard(isOn: boolean): VNode | undefined {
  const [leave, setLeave] = useState<(() => void) | undefined>();
  useUnloadGuard(isOn && leave === undefined);
  useLayer(isOn, () => setLeave(() => leaveByBack));
  useEffect(() => {
    if (!isOn || leave) return;
    const onClick = (event: MouseEvent) => {
      const link = leadingAway(event);
      if (!link) return;
      event.preventDefault();
      event.stopPropagation();
      setLeave(() => () => followLink(link.href));
    };
    addEventListener("click", onClick, true); // before the one that follows links
    return () => removeEventListener("click", onClick, true);
  }, [isOn, leave]);
  return (
    leave && (
      <Dialog title="Leave without saving?" onClose={() => setLeave(undefined)}>
        <p>What you changed on this page is not saved.</p>
        <div class="dialog-actions">
          <Button text="Stay" onClick={() => setLeave(undefined)} />
          <Button text="Leave without saving" class="danger" onClick={leave} />
        </div>
      </Dialog>
    )
  );
}

/** Returns the link that a click follows in this tab. */
function leadingAway(event: MouseEvent): HTMLAnchorElement | undefined {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return undefined;
  const link = event.composedPath().find((one) => one instanceof HTMLAnchorElement);
  const isHere = !link?.href || link.getAttribute("href")!.startsWith("#");
  return link === undefined || isHere || link.target || link.download ? undefined : link;
}
