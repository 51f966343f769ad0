import { useState } from "preact/hooks";
import { Field } from "./field.tsx";

const DAY_NS = 86_400_000_000_000n;
const CHOICES = [
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in a year"],
  ["", "never"],
] as const;

interface ExpiryProps {
  readonly initial?: string;
  readonly onChange: (days: string) => void;
}

/** Chooses when a token ends: some days from now, or never. */
export function ExpiryField({ initial = "", onChange }: ExpiryProps) {
  const [days, setDays] = useState(initial);
  return (
    <Field label="It expires" hint="From then on it is refused, as if it were disabled.">
      {(attributes) => (
        <select
          {...attributes}
          value={days}
          onChange={({ currentTarget }) => {
            setDays(currentTarget.value);
            onChange(currentTarget.value);
          }}
        >
          {CHOICES.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Returns the expiry for the call that makes the token. */
export function expiryOf(days: string): { expiresAt?: bigint } {
  return days === "" ? {} : { expiresAt: BigInt(Date.now()) * 1_000_000n + BigInt(days) * DAY_NS };
}
