/** The first of the sorted places that is not before `from`: its row, or `count` if there is none. */
export function firstFrom(places: Float64Array, from: number, count = places.length): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
