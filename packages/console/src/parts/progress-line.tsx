import "./progress-line.css";

/** A thin line that moves while data is on its way. It begins late, so that fast answers do not flicker. */
export function ProgressLine({ isOn }: { isOn: boolean }) {
  return <div class={isOn ? "progress-line on" : "progress-line"} aria-hidden="true" />;
}
