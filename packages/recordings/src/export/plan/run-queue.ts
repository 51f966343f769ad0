/** Something that waits to be merged, ordered by time, then by place in the file. */
export interface Queued {
  nextNs: bigint;
  readonly order: number;
}

export function comesBefore(a: Queued, b: Queued): boolean {
  return a.nextNs < b.nextNs || (a.nextNs === b.nextNs && a.order < b.order);
}

/** A binary heap; its first element is the earliest. */
export function pushQueued<T extends Queued>(heap: T[], item: T): void {
  let at = heap.length;
  heap.push(item);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!comesBefore(item, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = item;
}

export function popQueued<T extends Queued>(heap: T[]): T | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let at = 0;
  while (true) {
    const left = 2 * at + 1;
    const right = left + 1;
    const child = right < heap.length && comesBefore(heap[right]!, heap[left]!) ? right : left;
    if (child >= heap.length || !comesBefore(heap[child]!, last)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return first;
}
