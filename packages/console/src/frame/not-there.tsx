import { Empty } from "../parts/empty.tsx";

export function NotThere() {
  return (
    <Empty title="There is no such page.">
      <p>
        The address may be of another version. <a href="/">To the first page</a>
      </p>
    </Empty>
  );
}
