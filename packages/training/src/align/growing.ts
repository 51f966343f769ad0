const FIRST = 1024;

type Numbers = Float64Array | Int32Array;

/** Numbers that are added one after the other, outside of V8's heap. */
export class Growing<A extends Numbers> {
  #numbers: A;
  #length = 0;
  readonly #make: (length: number) => A;

  constructor(make: (length: number) => A) {
    this.#make = make;
    this.#numbers = make(FIRST);
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = this.#make(2 * this.#length);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#length] = number;
    this.#length += 1;
  }

  /** A view of the numbers so far. */
  get all(): A {
    return this.#numbers.subarray(0, this.#length) as A;
  }
}
