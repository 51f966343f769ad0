import { type Capability, EVERY_CAPABILITY, type Me } from "@downlink/protocol";
import { may } from "../../api/me.ts";
import { Button } from "../../parts/button.tsx";
import { toggleIn } from "../../parts/selection.ts";
import { capabilityGroups, PRESET_NAMES, PRESETS, type Preset, presetOf, VERBS } from "./capability-groups.ts";

export type Granted = readonly (Capability | typeof EVERY_CAPABILITY)[];

/** Returns a usual set, without what the user does not hold and can therefore not give. */
export function grantedBy(preset: Preset, me: Me): Granted {
  return preset === "full" ? [EVERY_CAPABILITY] : presetOf(preset).filter((one) => may(me, one));
}

interface MatrixProps {
  readonly me: Me;
  readonly granted: Granted;
  readonly onChange: (granted: Granted) => void;
}

/** Chooses what a key may do: one of the usual sets, or each thing by itself. */
export function CapabilityMatrix({ me, granted, onChange }: MatrixProps) {
  const offered = PRESETS.filter((preset) => preset !== "full" || me.capabilities.includes(EVERY_CAPABILITY));
  return (
    <fieldset class="stack">
      <legend>What it may do</legend>
      <div class="row">
        {offered.map((preset) => (
          <Button
            key={preset}
            text={PRESET_NAMES[preset]}
            class="small"
            aria-pressed={isSame(granted, grantedBy(preset, me))}
            onClick={() => onChange(grantedBy(preset, me))}
          />
        ))}
      </div>
      {granted.includes(EVERY_CAPABILITY) ? (
        <p>Everything, also what later versions add.</p>
      ) : (
        <Cells {...{ me, granted, onChange }} />
      )}
    </fieldset>
  );
}

function Cells({ me, granted, onChange }: MatrixProps) {
  const toggle = (capability: Capability) => onChange(toggleIn(granted, capability));
  return (
    <section class="matrix" aria-label="Capabilities">
      <table>
        <thead>
          <tr>
            <th scope="col">Of</th>
            {VERBS.map((verb) => (
              <th key={verb} scope="col">
                {verb}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {capabilityGroups.map(({ resource, byVerb }) => (
            <tr key={resource}>
              <th scope="row">{resource}</th>
              {VERBS.map((verb) => (
                <td key={verb}>
                  {byVerb[verb] && (
                    <Cell {...{ capability: byVerb[verb], granted, toggle }} isDisabled={!may(me, byVerb[verb])} />
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface CellProps {
  readonly capability: Capability;
  readonly granted: Granted;
  readonly isDisabled: boolean;
  readonly toggle: (capability: Capability) => void;
}

function Cell({ capability, granted, isDisabled, toggle }: CellProps) {
  return (
    <label title={isDisabled ? `${capability}: you do not hold it, and cannot give it` : capability}>
      <input
        type="checkbox"
        aria-label={capability}
        checked={granted.includes(capability)}
        disabled={isDisabled}
        onChange={() => toggle(capability)}
      />
    </label>
  );
}

function isSame(a: Granted, b: Granted): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}
