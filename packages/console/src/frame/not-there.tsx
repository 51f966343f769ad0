import { Empty } from "../parts/empty.tsx";

export function NotThere() {
  return (
    <Empty title="There is no such page.">
      <p>
        The address may belong to another version. <a href="/">To the start page</a>
      </p>
    </Empty>
  );
}
