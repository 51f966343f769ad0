import { useState } from "preact/hooks";
import { SelectField } from "./select.tsx";

const DAY_NS = 86_400_000_000_000n;
const CHOICES: readonly (readonly [days: string, text: string])[] = [
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in a year"],
  ["", "never"],
];

interface ExpiryProps {
  readonly initial?: string;
  readonly onChange: (days: string) => void;
}

/** Chooses when a token ends: some days from now, or never. */
export function ExpiryField({ initial = "", onChange }: ExpiryProps) {
  const [days, setDays] = useState(initial);
  return (
    <SelectField
      label="It expires"
      hint="From then on it is refused, as if it were disabled."
      value={days}
      choices={CHOICES}
      onChange={(chosen) => {
        setDays(chosen);
        onChange(chosen);
      }}
    />
  );
}

/** Returns the expiry for the call that makes the token. */
export function expiryOf(days: string): { expiresAt?: bigint } {
  return days === "" ? {} : { expiresAt: BigInt(Date.now()) * 1_000_000n + BigInt(days) * DAY_NS };
}
