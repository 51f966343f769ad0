import type { Device } from "@downlink/protocol";
import { Advice } from "../parts/advice.tsx";
import { Copy } from "../parts/copy.tsx";
import { Age } from "../parts/time.tsx";

type Problem = NonNullable<NonNullable<Device["agent"]>["status"]>["problems"][number];

/** Lists the agent's problems, each with its meaning and what to do. */
export function Problems({ device: { agent } }: { device: Device }) {
  const problems = agent?.status?.problems ?? [];
  if (problems.length === 0) return null;
  return (
    <section class="stack" aria-label="Problems">
      <h2>{problems.length === 1 ? "One problem" : `${problems.length} problems`}</h2>
      {!agent!.online && <p class="muted">As the agent reported at its last contact.</p>}
      {problems.map((problem) => (
        <One key={problem.code} problem={problem} />
      ))}
      <p class="row muted">
        To check everything around the agent, run on the device: <Copy text="agent doctor" />
      </p>
    </section>
  );
}

function One({ problem: { code, title, text, fix, since } }: { problem: Problem }) {
  return (
    <article class="problem">
      <header class="row">
        <h3>{title ?? code}</h3>
        <code>{code}</code>
        <span class="muted">
          since <Age timeNs={since} />
        </span>
      </header>
      <p>{text}</p>
      {fix !== undefined && <Advice text={fix} />}
    </article>
  );
}
