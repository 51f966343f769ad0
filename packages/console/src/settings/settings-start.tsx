import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { mayCall, useMe } from "../api/me.ts";
import { settingsTabs } from "./tabs.ts";

/** Leads to the first of the settings that the user may see. */
export function SettingsStart() {
  const { route } = useLocation();
  const { data: me } = useMe();
  useEffect(() => {
    const first = me && settingsTabs.find(({ needs }) => mayCall(me, needs));
    if (first) route(`/settings/${first.segment}`, true);
  }, [me]);
  return null;
}
