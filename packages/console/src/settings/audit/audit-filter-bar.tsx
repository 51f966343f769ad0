import { auditedKinds } from "@downlink/protocol";
import { RangePicker } from "../../parts/range-picker.tsx";
import { Select } from "../../parts/select.tsx";
import { TypedFilter } from "../../parts/typed-filter.tsx";
import type { UrlParams } from "../../url/use-params.ts";
import { ACTOR_KINDS, type auditParams } from "./audit-filters.ts";
import { kindWords } from "./operation-words.ts";

type Params = Pick<UrlParams<typeof auditParams>, "values" | "set">;

/** Edits the filters of the log. Each stands in the address. */
export function AuditFilterBar({ values, set }: Params) {
  return (
    <search class="stack">
      <RangePicker range={values} onChange={set} hasAll />
      <div class="row">
        <TextFilter
          {...{ values, set, name: "operation", label: "Operation, such as apiKeys.create" }}
          placeholder="Operation"
          isSearch
        />
        <ChoiceFilter {...{ values, set, name: "kind", label: "Kind of resource", choices: auditedKinds }} />
        <TextFilter {...{ values, set, name: "resource", label: "Id of the resource" }} />
        <ChoiceFilter {...{ values, set, name: "by", label: "Kind of actor", choices: ACTOR_KINDS }} />
        <TextFilter {...{ values, set, name: "actor", label: "Id of the actor" }} />
      </div>
    </search>
  );
}

interface TextProps extends Params {
  readonly name: "operation" | "resource" | "actor";
  readonly label: string;
  readonly placeholder?: string;
  readonly isSearch?: boolean;
}

function TextFilter({ values, set, name, ...field }: TextProps) {
  return <TypedFilter {...field} value={values[name]} onChange={(typed) => set({ [name]: typed.trim() })} />;
}

interface ChoiceProps extends Params {
  readonly name: "kind" | "by";
  readonly label: string;
  readonly choices: readonly string[];
}

function ChoiceFilter({ values, set, name, label, choices }: ChoiceProps) {
  return (
    <Select
      aria-label={label}
      value={values[name]}
      choices={[["", `${label}: any`], ...choices.map((choice) => [choice, kindWords(choice)] as const)]}
      onChange={(chosen) => set({ [name]: chosen } as Parameters<Params["set"]>[0])}
    />
  );
}
