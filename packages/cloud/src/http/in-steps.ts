/** The same pieces, each made in a turn: who makes many for a receiver that takes them leaves the processor to others in between. */
export async function* inSteps<T>(
  pieces: AsyncIterable<T>,
  takeTurn: () => Promise<Disposable>,
): AsyncGenerator<T, void> {
  const making = pieces[Symbol.asyncIterator]();
  try {
    for (let made = await nextInTurn(making, takeTurn); !made.done; made = await nextInTurn(making, takeTurn))
      yield made.value;
  } finally {
    await making.return?.();
  }
}

async function nextInTurn<T>(making: AsyncIterator<T>, takeTurn: () => Promise<Disposable>) {
  using _turn = await takeTurn();
  return await making.next();
}
