// Loaded into a server by `node --import`: at SIGUSR2 it reports how many statements it has sent and how long its processor worked.
import pg from "pg";

const usage = { statements: 0, asked: 0 };
const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
const counted = function (this: pg.Client, ...given: unknown[]) {
  usage.statements += 1;
  return query.apply(this, given);
};
pg.Client.prototype.query = counted as typeof pg.Client.prototype.query;

process.on("SIGUSR2", () => {
  const { user, system } = process.cpuUsage();
  usage.asked += 1;
  process.stdout.write(`usage ${usage.asked}: ${usage.statements} statements, ${user + system} µs\n`);
});
