import { useMemo, useState } from "preact/hooks";
import { ForeignText } from "../parts/foreign-text.tsx";
import type { LookProps } from "./look-props.ts";
import type { TreeNode } from "./message-tree.ts";
import { timeToShow } from "./place-at.ts";
import { useAnswer } from "./use-answer.ts";

/** Shows the message at the moment. */
export function Tree({ session, topic, cursorNs }: LookProps) {
  const request = { topic: topic.topic, timeNs: timeToShow(topic, cursorNs) };
  const { answer, problem } = useAnswer(session, "message", request);
  // It is not drawn again while the moment moves.
  const parts = useMemo(() => answer && <Parts node={answer.tree} depth={0} />, [answer]);
  if (problem) return <p class="view-note">{problem}</p>;
  if (!answer) return null;
  return (
    <div class="tree">
      <p class="muted">+{(answer.timeNs / 1e9).toFixed(6)} s</p>
      {parts}
    </div>
  );
}

/** The first two levels are open. Closed parts are not on the page. */
function Parts({ node: { children = [], text, leftOut }, depth }: { node: TreeNode; depth: number }) {
  if (children.length === 0) return <Text text={text} />;
  return (
    <ul>
      {children.map((child) => (
        <li key={child.name}>
          <Part node={child} depth={depth} />
        </li>
      ))}
      {leftOut !== undefined && <li class="muted">… {leftOut} more</li>}
    </ul>
  );
}

function Part({ node, depth }: { node: TreeNode; depth: number }) {
  const [isOpen, setOpen] = useState(depth < 1 && (node.children?.length ?? 0) <= 20);
  if (!node.children || node.children.length === 0)
    return (
      <>
        <Name name={node.name} /> <Text text={node.text} />
      </>
    );
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Name name={node.name} /> <span class="muted">{node.text}</span>
      </summary>
      {isOpen && <Parts node={node} depth={depth + 1} />}
    </details>
  );
}

function Name({ name }: { name: string }) {
  return (
    <span class="tree-name">
      <ForeignText text={name} />
    </span>
  );
}

function Text({ text }: { text: string }) {
  return (
    <span class="mono">
      <ForeignText text={text} />
    </span>
  );
}
