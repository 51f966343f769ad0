/** Takes a turn for a step, which is the first one or continues what was begun. */
export type TakeTurn = (step: { readonly hasBegun: boolean }) => Promise<Disposable | undefined>;

/** Yields the same pieces, each made in a turn: making many pieces for a fast receiver leaves the processor to others in between. */
export async function* yieldInSteps<T, Sent = unknown>(
  pieces: AsyncIterable<T, unknown, Sent>,
  takeTurn: TakeTurn,
): AsyncGenerator<T, void, Sent> {
  const making = pieces[Symbol.asyncIterator]();
  try {
    let sent: [] | [Sent] = [];
    for (let hasBegun = false; ; hasBegun = true) {
      const made = await makeNext(() => making.next(...sent), takeTurn({ hasBegun }));
      if (made.done) return;
      sent = [yield made.value];
    }
  } finally {
    await making.return?.();
  }
}

async function makeNext<T>(make: () => Promise<T>, taken: ReturnType<TakeTurn>): Promise<T> {
  using _turn = await taken;
  return await make();
}
