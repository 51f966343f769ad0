import type { ComponentChildren } from "preact";
import "./facts.css";
import { ForeignText } from "./foreign-text.tsx";

/** Names and values beside each other. Those that are texts may be of others. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>
            <ForeignText text={name} />
          </dt>
          <dd>{typeof value === "string" ? <ForeignText text={value} /> : value}</dd>
        </div>
      ))}
    </dl>
  );
}
