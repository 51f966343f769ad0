import type { EventType } from "@downlink/protocol";
import { RangePicker } from "../parts/range-picker.tsx";
import { namedChoices, Select } from "../parts/select.tsx";
import { TypedFilter } from "../parts/typed-filter.tsx";
import type { UrlParams } from "../url/use-params.ts";
import type { eventParams } from "./event-params.ts";

interface FilterProps {
  readonly params: UrlParams<typeof eventParams>;
  readonly types: readonly EventType[];
}

export function EventFilters({ params: { values, set }, types }: FilterProps) {
  return (
    <search class="stack filter-bar">
      <RangePicker range={values} onChange={set} hasAll />
      <div class="row">
        <TypedFilter label="Terms, such as reason:estop" value={values.q} onChange={(q) => set({ q })} isSearch />
        <TypedFilter label="Device" value={values.device} onChange={(device) => set({ device })} />
        <Select
          aria-label="Type"
          value={values.type}
          choices={[["", "all types"], ...namedChoices(types)]}
          onChange={(type) => set({ type })}
        />
      </div>
    </search>
  );
}
