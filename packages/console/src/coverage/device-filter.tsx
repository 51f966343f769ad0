import type { Device } from "@downlink/protocol";
import { useId, useMemo, useState } from "preact/hooks";
import { splitTerms } from "./params.ts";

interface FilterProps {
  /** All terms: `rover properties.site:munich`. */
  readonly text: string;
  /** The devices whose names and properties are offered. */
  readonly devices: readonly Device[];
  readonly onChange: (text: string) => void;
}

const MOST_OFFERED = 500;

/** Narrows the rows by parts of names and by properties; each term is a chip that can be taken away. */
export function DeviceFilter({ text, devices, onChange }: FilterProps) {
  const id = useId();
  const [typed, setTyped] = useState("");
  const terms = splitTerms(text);
  const offered = useMemo(() => offer(devices), [devices]);
  const add = (term: string) => {
    setTyped("");
    if (term.trim() !== "") onChange([...new Set([...terms, term.trim()])].join(" "));
  };
  const remove = (at: number) => onChange(terms.filter((_, other) => other !== at).join(" "));
  return (
    <span class="device-filter">
      {terms.map((term, at) => (
        <button key={term} type="button" class="term" aria-label={`No longer ${term}`} onClick={() => remove(at)}>
          {term} <span aria-hidden="true">✕</span>
        </button>
      ))}
      <input
        type="search"
        list={id}
        aria-label="Devices: a part of the name, or properties.key:value"
        placeholder="Filter devices"
        value={typed}
        data-search
        onInput={(event) => (isChosen(event) ? add : setTyped)(event.currentTarget.value)}
        onBlur={() => add(typed)}
        onKeyDown={({ key }) => {
          if (key === "Enter") add(typed);
          if (key === "Backspace" && typed === "" && terms.length > 0) remove(terms.length - 1);
        }}
      />
      <datalist id={id}>
        {offered.map((value) => (
          <option key={value} value={value} />
        ))}
      </datalist>
    </span>
  );
}

/** Returns whether an offered text was chosen and not typed: some browsers send no details of such an event. */
function isChosen(event: Event): boolean {
  return !(event instanceof InputEvent) || event.inputType === "insertReplacementText";
}

/** Returns the terms that are offered: the names, and each property with its values. */
function offer(devices: readonly Device[]): string[] {
  const properties = devices.flatMap(({ properties: all }) =>
    Object.entries(all ?? {}).map(([key, value]) => `properties.${key}:${quote(String(value))}`),
  );
  return [...new Set([...devices.map(({ name }) => name), ...properties])].slice(0, MOST_OFFERED);
}

function quote(value: string): string {
  return /\s/.test(value) ? `"${value}"` : value;
}
