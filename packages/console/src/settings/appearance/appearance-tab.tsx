import { useState } from "preact/hooks";
import { chooseTheme, THEME_NAMES, THEMES, theme } from "../../frame/theme.ts";
import { areKeysOn, turnKeys } from "../../parts/keys.ts";
import { zoneName } from "../../time/format-time.ts";
import { chooseZone, ZONES, zone } from "../../time/zone.ts";
import { SettingsFrame } from "../settings-frame.tsx";

/** Edits the settings that this browser keeps for its user. */
export function AppearanceTab() {
  const [isOn, setOn] = useState(areKeysOn());
  const turn = () => {
    turnKeys(!isOn);
    setOn(!isOn);
  };
  return (
    <SettingsFrame segment="appearance">
      <p class="muted">These are kept in this browser only.</p>
      <fieldset>
        <legend>Theme</legend>
        {THEMES.map((one) => (
          <label key={one} class="choice">
            <input type="radio" name="theme" checked={theme.value === one} onChange={() => chooseTheme(one)} />
            {THEME_NAMES[one]}
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>Times are shown and typed in</legend>
        {ZONES.map((one) => (
          <label key={one} class="choice">
            <input type="radio" name="zone" checked={zone.value === one} onChange={() => chooseZone(one)} />
            {one === "UTC" ? "UTC" : `the zone of this browser: ${zoneName("browser")}`}
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>Keyboard</legend>
        <label class="choice">
          <input type="checkbox" checked={isOn} onChange={turn} /> Use single-key shortcuts. ? lists them.
        </label>
      </fieldset>
    </SettingsFrame>
  );
}
