interface Size {
  readonly width: number;
  readonly height: number;
}

interface Pixels extends Size {
  /** Four bytes for each pixel: red, green, blue, and one that does not count. */
  readonly rgba: Uint8Array | Uint8ClampedArray;
}

/** Makes a picture smaller: a pixel is the mean of those that it covers, as whole ones. Returns four bytes for each pixel. */
export function shrink({ rgba, width, height }: Pixels, to: Size): Uint8ClampedArray {
  const small = new Uint8ClampedArray(to.width * to.height * 4);
  const columns = Array.from({ length: to.width + 1 }, (_, x) => Math.floor((x * width) / to.width));
  for (let y = 0, at = 0; y < to.height; y += 1) {
    const top = Math.floor((y * height) / to.height);
    const bottom = Math.max(top + 1, Math.floor(((y + 1) * height) / to.height));
    for (let x = 0; x < to.width; x += 1, at += 4) {
      const left = columns[x]!;
      const right = Math.max(left + 1, columns[x + 1]!);
      let [red, green, blue] = [0, 0, 0];
      for (let row = top; row < bottom; row += 1)
        for (let from = (row * width + left) * 4; from < (row * width + right) * 4; from += 4) {
          red += rgba[from]!;
          green += rgba[from + 1]!;
          blue += rgba[from + 2]!;
        }
      const count = (bottom - top) * (right - left);
      small[at] = Math.round(red / count);
      small[at + 1] = Math.round(green / count);
      small[at + 2] = Math.round(blue / count);
      small[at + 3] = 255;
    }
  }
  return small;
}
