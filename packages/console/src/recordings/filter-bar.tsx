import { ImportStatus } from "@downlink/protocol";
import { statusText } from "../parts/badge.tsx";
import { RangePicker } from "../parts/range-picker.tsx";
import { toggleIn } from "../parts/selection.ts";
import { TypedFilter } from "../parts/typed-filter.tsx";
import type { UrlParams } from "../url/use-params.ts";
import type { listParams } from "./filters.ts";

type Params = UrlParams<typeof listParams>;

/** Edits the filters of the list. Each stands in the address. */
export function FilterBar({ values, set }: Pick<Params, "values" | "set">) {
  const toggleStatus = (status: ImportStatus) => set({ status: toggleIn(values.status, status) });
  return (
    <search class="stack filter-bar">
      <RangePicker range={values} onChange={set} />
      <div class="row">
        <TypedFilter label="Path contains" value={values.path} onChange={(path) => set({ path })} isSearch />
        <TypedFilter label="Device" value={values.device} onChange={(device) => set({ device })} />
        <TypedFilter label="Topic" value={values.topic} onChange={(topic) => set({ topic })} />
        <TypedFilter label="Metadata, as key:value" value={values.meta} onChange={(meta) => set({ meta })} />
        <fieldset class="row statuses">
          <legend class="unseen">Status</legend>
          {ImportStatus.options.map((status) => (
            <label key={status} class="row">
              <input type="checkbox" checked={values.status.includes(status)} onChange={() => toggleStatus(status)} />
              {statusText(status)}
            </label>
          ))}
        </fieldset>
      </div>
    </search>
  );
}
