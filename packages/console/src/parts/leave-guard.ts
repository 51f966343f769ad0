import { useEffect } from "preact/hooks";

/**
 * Guards a page while it is on: the browser asks before the page is closed or loaded again, and Back stays on the page. An entry of the
 * same address is put before it, so that Back only takes that away, and `onBack` is called.
 */
export function useLeaveGuard(isOn: boolean, onBack: () => void): void {
  useEffect(() => {
    if (!isOn) return;
    const put = () => history.pushState(history.state, "", location.href);
    const unload = (event: BeforeUnloadEvent) => event.preventDefault();
    const back = () => {
      put();
      onBack();
    };
    put();
    addEventListener("beforeunload", unload);
    addEventListener("popstate", back);
    return () => {
      removeEventListener("beforeunload", unload);
      removeEventListener("popstate", back);
      history.back();
    };
  }, [isOn]);
}
