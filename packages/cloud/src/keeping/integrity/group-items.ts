/** Groups the items; the last group may have fewer. */
export async function* groupItems<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[], void> {
  let group: T[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
