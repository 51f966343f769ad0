import { useMemo, useState } from "preact/hooks";
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
  if (children.length === 0) return <span class="mono">{text}</span>;
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
        <span class="tree-name">{node.name}</span> <span class="mono">{node.text}</span>
      </>
    );
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span class="tree-name">{node.name}</span> <span class="muted">{node.text}</span>
      </summary>
      {isOpen && <Parts node={node} depth={depth + 1} />}
    </details>
  );
}
