import { spawnSync } from 'node:child_process';
import type { Context } from 'mocha';
import { skipUnless } from '../support/skip-unless.js';

// Interface names have at most 15 characters.
const NAME = `ps${process.pid}`;
// Address range for network tests (RFC 2544).
const PREFIX = `198.18.${process.pid % 256}`;
/** Names of the network namespaces, and of their interfaces on the bridge. */
const HOSTS: readonly string[] = [0, 1, 2].map((host) => `${NAME}-${host}`);

/** The addresses of three virtual hosts: network namespaces on this machine, connected to one bridge. */
export const addresses: readonly string[] = HOSTS.map((_, host) => `${PREFIX}.${host + 1}`);

/** Skips a test if network namespaces cannot be created. Throws instead if `CI=true`. */
export function skipUnlessNetwork(context: Context): void {
  const isAllowed = spawnSync('ip', ['netns', 'add', `${NAME}-probe`]).status === 0;
  if (isAllowed) ip(`netns delete ${NAME}-probe`);
  skipUnless(context, isAllowed, 'the program ip (iproute2) and permission to create network namespaces');
}

/** Creates hosts that reach each other and this process. Always {@link removeNetwork}. */
export function createNetwork(): void {
  ip(`link add ${NAME} type bridge`);
  ip(`address add ${PREFIX}.254/24 dev ${NAME}`);
  ip(`link set ${NAME} up`);
  for (const [host, name] of HOSTS.entries()) {
    ip(`netns add ${name}`);
    ip(`link add ${name} type veth peer name eth0 netns ${name}`);
    ip(`link set ${name} master ${NAME} up`);
    ip(`-n ${name} address add ${addresses[host]}/24 dev eth0`);
    for (const device of ['eth0', 'lo']) ip(`-n ${name} link set ${device} up`);
  }
}

/** Removes what exists of the network. */
export function removeNetwork(): void {
  for (const name of HOSTS) spawnSync('ip', ['netns', 'delete', name]);
  for (const name of [...HOSTS, NAME]) spawnSync('ip', ['link', 'delete', name]);
}

/** Returns the command prefix that runs a program on a host. */
export function onHost(host: number): readonly string[] {
  return ['ip', 'netns', 'exec', `${HOSTS[host]}`];
}

/** Drops every packet between a host and the others until {@link restoreNetwork}. This process still reaches all of them. */
export function isolate(host: number): void {
  for (const [other, name] of HOSTS.entries()) {
    if (other === host) continue;
    ip(`-n ${HOSTS[host]} route replace blackhole ${addresses[other]}`);
    ip(`-n ${name} route replace blackhole ${addresses[host]}`);
  }
}

export function restoreNetwork(): void {
  for (const name of HOSTS) ip(`-n ${name} route flush type blackhole`);
}

function ip(args: string): void {
  const { status, stderr } = spawnSync('ip', args.split(' '), { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args}: ${stderr}`);
}
