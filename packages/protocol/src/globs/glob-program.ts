import type { GlobNode } from "./parse-glob.ts";

export const END = 0;

/** One state of the automaton, by what it does. A fork names its ways in the order in which they are preferred. */
export type State =
  | { readonly kind: "end" }
  | { readonly kind: "unit"; readonly folded: string; readonly next: number }
  | { readonly kind: "read"; readonly accepts: (folded: string) => boolean; readonly next: number }
  | { readonly kind: "fork"; readonly to: number[] }
  /** The text that a wildcard matches begins or ends here. */
  | { readonly kind: "mark"; readonly wildcard: number; readonly isBegin: boolean; readonly next: number };

interface Place {
  /** The state that follows the node. */
  readonly next: number;
  /** The number of wildcards in front of the node. */
  readonly before: number;
}

/** Adds the states of a node. Answers the state that it begins with. */
export function addNode(program: State[], node: GlobNode, { next, before }: Place): number {
  switch (node.kind) {
    case "unit":
      return program.push({ kind: "unit", folded: node.folded, next }) - 1;
    case "one":
      return program.push({ kind: "read", accepts: node.accepts, next }) - 1;
    case "sequence":
      return placesOf(node.nodes, before).reduceRight(
        (following, part) => addNode(program, part.node, { ...part, next: following }),
        next,
      );
    case "choice": {
      const to = placesOf(node.nodes, before).map((part) => addNode(program, part.node, { ...part, next }));
      return program.push({ kind: "fork", to }) - 1;
    }
    case "repeat": {
      const to: number[] = [];
      const again = program.push({ kind: "fork", to }) - 1;
      const once = addNode(program, node.node, { next: again, before });
      to.push(once, next);
      return node.atLeast === 0 ? again : once;
    }
    case "wildcard": {
      const end = program.push({ kind: "mark", wildcard: before, isBegin: false, next }) - 1;
      const inner = addNode(program, node.node, { next: end, before: before + 1 });
      return program.push({ kind: "mark", wildcard: before, isBegin: true, next: inner }) - 1;
    }
  }
}

/** Returns the parts, each with the number of wildcards in front of it. */
function placesOf(nodes: readonly GlobNode[], before: number): { readonly node: GlobNode; readonly before: number }[] {
  let passed = before;
  return nodes.map((node) => {
    const place = { node, before: passed };
    passed += wildcardsIn(node);
    return place;
  });
}

/** Wildcards are counted in the order of the glob's text, also those of alternatives in braces. */
export function wildcardsIn(node: GlobNode): number {
  switch (node.kind) {
    case "unit":
    case "one":
      return 0;
    case "sequence":
    case "choice":
      return node.nodes.reduce((sum, part) => sum + wildcardsIn(part), 0);
    case "repeat":
      return wildcardsIn(node.node);
    case "wildcard":
      return 1 + wildcardsIn(node.node);
  }
}
