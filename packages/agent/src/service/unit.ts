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
export function makeUnit({ command, user, group, stateDir, storageRoot }: UnitOptions): string {
  const state =
    stateDir === MANAGED_STATE_DIR ? "StateDirectory=downlink-agent\nStateDirectoryMode=0750" : writable(stateDir);
  const isTemporary = [stateDir, storageRoot].some((path) => /^\/(var\/)?tmp(\/|$)/.test(path));
  return `[Unit]
Description=Downlink edge agent
After=local-fs.target
StartLimitIntervalSec=0

[Service]
Type=notify
NotifyAccess=all
WatchdogSec=60
ExecStart=${command.map(quote).join(" ")}
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
${state}
${writable(storageRoot)}
UMask=0027
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=${isTemporary ? "no" : "yes"}
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
