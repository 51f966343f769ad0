import type { ControlPlane } from "../../processes/control-plane.ts";
import { figuresOf } from "../agent/process-figures.ts";
import { say } from "../report.ts";
import type { Transfer } from "./bucket-under-test.ts";
import { median } from "./compared.ts";

interface Usage {
  readonly cloudSeconds: number;
  readonly clientSeconds: number;
}

/** Notes the processors' time of both ends of each transfer, which decides its speed where few processors do everything. */
export function createUsage({ program }: ControlPlane) {
  const usages = new Map<string, Usage[]>();
  const note = (name: string, usage: Usage) => usages.set(name, [...(usages.get(name) ?? []), usage]);
  const take = async () => {
    const { user, system } = process.cpuUsage();
    return { cloud: (await figuresOf(program.pid)).cpuSeconds, client: (user + system) / 1e6 };
  };
  return {
    async of(name: string, transfer: () => Promise<{ readonly seconds: number }>): Promise<number> {
      const before = await take();
      const { seconds } = await transfer();
      const after = await take();
      note(name, { cloudSeconds: after.cloud - before.cloud, clientSeconds: after.client - before.client });
      return seconds;
    },
    async ofRaw(transfer: () => Promise<Transfer>): Promise<number> {
      const { seconds, cpuSeconds } = await transfer();
      note("one GET by the SDK", { cloudSeconds: 0, clientSeconds: cpuSeconds });
      return seconds;
    },
    report(): void {
      for (const [name, all] of usages) {
        const cloud = median(all.map(({ cloudSeconds }) => cloudSeconds)).toFixed(2);
        const client = median(all.map(({ clientSeconds }) => clientSeconds)).toFixed(2);
        say(`${name}: ${cloud} s of a processor in the control plane, ${client} s in its client`);
      }
    },
  };
}
