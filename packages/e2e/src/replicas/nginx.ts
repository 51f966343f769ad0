import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { eventually } from "@downlink/recordings/testing";

/** The configuration that operators get. */
const SITE = join(import.meta.dirname, "../../../cloud/deploy/nginx.conf");

export interface Nginx extends AsyncDisposable {
  readonly url: string;
  /** Makes it read its configuration again, as `nginx -s reload` does: new workers serve, and the old ones finish their requests. */
  reload(): void;
  /** Returns what it has logged so far, of access and of errors. */
  logged(): Promise<string>;
}

interface Options {
  readonly folder: string;
  /** The host and port on which it listens. */
  readonly address: string;
  /** The addresses of the processes behind it, as many as the operators' file has. */
  readonly upstreams: readonly string[];
}

/**
 * Returns why there is no nginx here; undefined if it is installed. It also prints the reason, and CI needs one, because skipped tests
 * prove nothing.
 */
export function whyNoNginx(): string | undefined {
  try {
    execFileSync("nginx", ["-v"], { stdio: "ignore" });
    return undefined;
  } catch {
    const reason = "NOT TESTED behind a load balancer: nginx is not installed (Debian: apt-get install nginx-light)";
    if (process.env.CI) throw new Error(reason);
    console.error(reason);
    return reason;
  }
}

/** Starts nginx with the settings that operators get; only addresses differ. It ends with this process. */
export async function startNginx({ folder, address, upstreams }: Options): Promise<Nginx> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "site.conf"), siteFor(await readFile(SITE, "utf8"), address, upstreams));
  await writeFile(join(folder, "nginx.conf"), MAIN);
  const settings = ["-p", folder, "-c", "nginx.conf", "-e", "error.log"];
  const child = spawn("setpriv", ["--pdeathsig", "TERM", "--", "nginx", ...settings], { stdio: "inherit" });
  const ended = once(child, "exit");
  await eventually(
    () => isListening(address),
    (listens) => listens,
  );
  return {
    url: `http://${address}`,
    reload: () => void child.kill("SIGHUP"),
    logged: async () => {
      const logs = ["access.log", "error.log"].map((name) => readFile(join(folder, name), "utf8"));
      return (await Promise.all(logs)).join("");
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** The parts of a machine's own nginx.conf around the site, in a folder of its own. */
const MAIN = `
daemon off;
user root;
worker_processes 2;
pid nginx.pid;
error_log error.log warn;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path bodies;
  proxy_temp_path answers;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  include site.conf;
}
`;

function siteFor(site: string, address: string, upstreams: readonly string[]): string {
  const places = [...new Set(site.match(/(?<=server )[\d.]+:\d+/g))];
  if (places.length !== upstreams.length) throw new Error(`the settings of nginx name ${places.length} processes`);
  return places.reduce(
    (text, place, at) => text.replaceAll(`server ${place} `, `server ${upstreams[at]} `),
    site.replace(/listen 80;/, `listen ${address};`).replaceAll("/var/log/nginx/", ""),
  );
}

async function isListening(address: string): Promise<boolean> {
  const [host, port] = address.split(":");
  const socket = connect({ host: host!, port: Number(port) });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
