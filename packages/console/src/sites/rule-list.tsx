import type { IngestPathRule } from "@downlink/protocol";
import { Button } from "../parts/button.tsx";
import { changeRule, moveRule, type RuleFields } from "./policy-draft.ts";

interface ListProps {
  readonly rules: readonly IngestPathRule[];
  readonly isFixed: boolean;
  readonly onChange: (rules: readonly IngestPathRule[]) => void;
}

export function RuleList({ rules, isFixed, onChange }: ListProps) {
  const change = (at: number, fields: RuleFields) =>
    onChange(rules.map((rule, index) => (index === at ? changeRule(rule, fields) : rule)));
  return (
    <ol class="rules" aria-label="Rules">
      {rules.map((rule, at) => (
        <li key={at} class="rule">
          <RuleInputs {...{ rule, number: at + 1, isFixed, onChange: (fields) => change(at, fields) }} />
          {!isFixed && (
            <RuleButtons
              number={at + 1}
              isFirst={at === 0}
              isLast={at === rules.length - 1}
              onMove={(by) => onChange(moveRule(rules, at, by))}
              onRemove={() => onChange(rules.filter((_, index) => index !== at))}
            />
          )}
        </li>
      ))}
    </ol>
  );
}

interface InputsProps {
  readonly rule: IngestPathRule;
  readonly number: number;
  readonly isFixed: boolean;
  readonly onChange: (fields: RuleFields) => void;
}

function RuleInputs({ rule: { pattern, action }, number, isFixed, onChange }: InputsProps) {
  return (
    <>
      <input
        aria-label={`Pattern of rule ${number}`}
        placeholder="robots/*/**"
        class="mono"
        value={pattern}
        readOnly={isFixed}
        onInput={({ currentTarget }) => onChange({ pattern: currentTarget.value })}
      />
      <select
        aria-label={`What rule ${number} does`}
        value={action.type}
        disabled={isFixed}
        onChange={({ currentTarget }) => onChange({ type: currentTarget.value === "ignore" ? "ignore" : "import" })}
      >
        <option value="import">import</option>
        <option value="ignore">ignore</option>
      </select>
      <input
        aria-label={`Device of rule ${number}`}
        placeholder="device: robot-{1}"
        class="mono"
        value={action.nameTemplate ?? ""}
        readOnly={isFixed}
        disabled={action.type === "ignore"}
        onInput={({ currentTarget }) => onChange({ nameTemplate: currentTarget.value })}
      />
    </>
  );
}

interface ButtonProps {
  readonly number: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly onMove: (by: -1 | 1) => void;
  readonly onRemove: () => void;
}

function RuleButtons({ number, isFirst, isLast, onMove, onRemove }: ButtonProps) {
  return (
    <span class="row">
      <Button text="↑" class="small" aria-label={`Rule ${number} up`} disabled={isFirst} onClick={() => onMove(-1)} />
      <Button text="↓" class="small" aria-label={`Rule ${number} down`} disabled={isLast} onClick={() => onMove(1)} />
      <Button text="✕" class="small" aria-label={`Remove rule ${number}`} onClick={onRemove} />
    </span>
  );
}
