const PAGE = 500;

/** A page is large enough to be worth a statement of the database. */
export async function* pagesOf<T>(all: AsyncIterable<T>): AsyncGenerator<T[], void> {
  let page: T[] = [];
  for await (const one of all) {
    page.push(one);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
