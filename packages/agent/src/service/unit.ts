export interface UnitOptions {
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly user: string;
  /** The members of this group may read the state; the user need not be one of them. */
  readonly group: string;
  readonly stateDir: string;
  readonly storageRoot: string;
}

/** systemd makes this directory and gives it to the user. */
const MANAGED_STATE_DIR = "/var/lib/downlink-agent";

/** The service may not do what the agent never does. */
const hardening = `PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service`;

/**
 * Makes the unit of the agent. It depends on no network and no mount, because the agent works without them and says so. It has
 * no `MemoryDenyWriteExecute`, because V8 could not compile then.
 */
export function makeUnit({ command, user, group, ...places }: UnitOptions): string {
  return unitOf({ start: command.map(quote).join(" "), user, group, places: openPlaces(places) });
}

/** Makes the unit that a package brings: the places of the robot are in a drop-in beside it. With `isTemplate` for one of several agents. */
export function makePackagedUnit({ isTemplate }: { isTemplate: boolean }): string {
  const name = isTemplate ? "agent-%i" : "agent";
  const configFile = `/etc/downlink/${name}.env`;
  return unitOf({
    start: `/usr/bin/agent --config ${configFile} run`,
    user: "downlink-agent",
    group: "downlink",
    places: `StateDirectory=downlink-${name}\nStateDirectoryMode=0750\nPrivateTmp=yes`,
    about: `Documentation=man:agent(1)\nConditionPathExists=${configFile}\n`,
  });
}

/** Returns the lines that open the directories of this agent, also in a drop-in beside the unit of a package. */
export function openPlaces({ stateDir, storageRoot }: Pick<UnitOptions, "stateDir" | "storageRoot">): string {
  const state =
    stateDir === MANAGED_STATE_DIR ? "StateDirectory=downlink-agent\nStateDirectoryMode=0750" : writable(stateDir);
  const isTemporary = [stateDir, storageRoot].some((path) => /^\/(var\/)?tmp(\/|$)/.test(path));
  return `${state}\n${writable(storageRoot)}\nPrivateTmp=${isTemporary ? "no" : "yes"}`;
}

interface UnitLines {
  readonly start: string;
  readonly user: string;
  readonly group: string;
  readonly places: string;
  readonly about?: string;
}

function unitOf({ start, user, group, places, about = "" }: UnitLines): string {
  return `[Unit]
Description=Downlink edge agent
${about}After=local-fs.target
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=all
WatchdogSec=60
ExecStart=${start}
Restart=always
RestartSec=5
TimeoutStopSec=15
User=${user}
Group=${group}
Nice=10
IOSchedulingClass=idle
CPUWeight=20
MemoryMax=200M
OOMScoreAdjust=500
${places}
UMask=0027
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=read-only
${hardening}

[Install]
WantedBy=multi-user.target
`;
}

/** A directory that does not exist yet, for example a card's mount point, must not keep the service from starting. */
function writable(path: string): string {
  return `ReadWritePaths=${quote(`-${path}`)}`;
}

/** Quotes a word for systemd, for which `%` begins a specifier and `$` a variable. */
function quote(word: string): string {
  const escaped = word.replaceAll("%", "%%").replaceAll("$", "$$$$").replace(/["\\]/g, "\\$&");
  return /^[\w@:,./%+=-]+$/.test(word) ? escaped : `"${escaped}"`;
}
