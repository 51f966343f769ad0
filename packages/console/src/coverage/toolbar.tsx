import { Button } from "../parts/button.tsx";
import { RangePicker } from "../parts/range-picker.tsx";
import { TypedFilter } from "../parts/typed-filter.tsx";
import { ZOOM_STEP } from "../timeline/lane-keys.ts";
import { zoomAbout } from "../timeline/view.ts";
import type { UrlParams } from "../url/use-params.ts";
import { FitButton } from "./fit.tsx";
import { type coverageParams, rangeOf } from "./params.ts";
import type { LaneView } from "./use-coverage.ts";

interface ToolbarProps {
  readonly params: UrlParams<typeof coverageParams>;
  readonly lanes: LaneView;
  readonly projectId: string;
}

/** Chooses the devices, the span of time, and its scale. */
export function Toolbar({ params, lanes, projectId }: ToolbarProps) {
  const { values, set } = params;
  const zoom = (factor: number) => {
    lanes.state.view.value = zoomAbout(lanes.state.view.value, factor, 0.5);
  };
  return (
    <div class="coverage-bar row">
      <TypedFilter
        label="Devices: a part of the name, or properties.key:value"
        placeholder="name or properties.key:value"
        value={values.q}
        onChange={(q) => set({ q })}
        isSearch
      />
      <RangePicker range={rangeOf(values)} onChange={({ from, to }) => set({ from, to })} />
      <span class="row">
        <Button text="+" class="small" aria-label="Closer" onClick={() => zoom(1 / ZOOM_STEP)} />
        <Button text="−" class="small" aria-label="Farther" onClick={() => zoom(ZOOM_STEP)} />
        <FitButton {...{ params, projectId }} />
      </span>
      <span class="row">
        <Button
          text="Dense"
          class="small"
          aria-pressed={values.row === "4"}
          onClick={() => set({ row: values.row === "4" ? "24" : "4" })}
        />
        <Button
          text="As table"
          class="small"
          aria-pressed={values.table}
          onClick={() => set({ table: !values.table })}
        />
      </span>
    </div>
  );
}
