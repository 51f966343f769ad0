import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { api } from "@downlink/protocol";
import { type ControlPlane, startControlPlane } from "../processes/control-plane.ts";

/** A control plane on this machine, which installed agents talk to. */
export interface Plant extends AsyncDisposable {
  readonly cloud: ControlPlane;
  readonly url: string;
  /** Makes a device and returns its token. */
  makeToken(name: string): Promise<string>;
  /** The size of the largest object that is stored. */
  storedBytes(): Promise<number>;
}

export async function plantControlPlane(env: Readonly<Record<string, string>> = {}): Promise<Plant> {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-plant-"));
  const cloud = await startControlPlane({ dataDir, env });
  return {
    cloud,
    url: cloud.url,
    async makeToken(name) {
      const { id: deviceId } = await cloud.admin.call(api.devices.create, { name });
      const { token } = await cloud.admin.call(api.deviceTokens.create, { deviceId });
      return token!;
    },
    async storedBytes() {
      const entries = await readdir(join(dataDir, "objects"), { recursive: true, withFileTypes: true });
      const files = entries.filter((entry) => entry.isFile());
      const sizes = await Promise.all(
        files.map((file) => stat(join(file.parentPath, file.name)).then(({ size }) => size)),
      );
      return Math.max(0, ...sizes);
    },
    async [Symbol.asyncDispose]() {
      await cloud[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
