import type { Device } from "@downlink/protocol";
import { RangePicker } from "../parts/range-picker.tsx";
import type { UrlParams } from "../url/use-params.ts";
import { ViewsMenu } from "../views/views-menu.tsx";
import { Attention } from "./attention.tsx";
import { DeviceFilter } from "./device-filter.tsx";
import { Legend } from "./legend.tsx";
import { type coverageParams, rangeOf, toDeviceFilter } from "./params.ts";
import { shownParts } from "./shown.ts";

interface ToolbarProps {
  readonly params: UrlParams<typeof coverageParams>;
  readonly devices: readonly Device[];
  readonly projectId: string;
}

/** Chooses the span of time, the devices, and what of their data is shown. */
export function Toolbar({ params: { values, set }, devices, projectId }: ToolbarProps) {
  const isDense = values.row === "4";
  return (
    <header class="coverage-bar">
      <h1>Coverage</h1>
      <RangePicker range={rangeOf(values)} onChange={({ from, to }) => set({ from, to })} />
      <DeviceFilter text={values.q} devices={devices} onChange={(q) => set({ q })} />
      <span class="grow" />
      <Legend shown={shownParts(values.hide)} onHide={(hide) => set({ hide })} />
      <Attention {...{ projectId, devices }} name={toDeviceFilter(values.q).nameMatches ?? ""} />
      <ViewsMenu
        others={[
          { text: isDense ? "Rows with names" : "Dense rows", onChoose: () => set({ row: isDense ? "32" : "4" }) },
          { text: values.table ? "As lanes" : "As a table", onChoose: () => set({ table: !values.table }) },
        ]}
      />
    </header>
  );
}
