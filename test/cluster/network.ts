import { spawnSync } from 'node:child_process';
import type { Context } from 'mocha';
import { skipUnless } from '../support/skip-unless.js';

/** Virtual hosts on this machine: network namespaces connected to one bridge. Requires root. */
export class Network {
  // Interface names have at most 15 characters.
  readonly #name = `ps${process.pid}`;
  // Address range for network tests (RFC 2544).
  readonly #prefix = `198.18.${process.pid % 256}`;
  readonly #hosts: readonly number[];

  private constructor(hosts: number) {
    this.#hosts = Array.from({ length: hosts }, (_, host) => host);
  }

  /** Skips a test if network namespaces cannot be created. Throws instead if `CI=true`. */
  static skipUnlessAvailable(context: Context): void {
    const probe = `ps${process.pid}-probe`;
    const isAllowed = spawnSync('ip', ['netns', 'add', probe]).status === 0;
    if (isAllowed) ip('netns', 'delete', probe);
    skipUnless(context, isAllowed, 'the program ip (iproute2) and permission to create network namespaces');
  }

  /** Creates hosts that reach each other and this process. Always {@link remove} them. */
  static create(hosts: number): Network {
    const network = new Network(hosts);
    network.#create();
    return network;
  }

  get addresses(): string[] {
    return this.#hosts.map((host) => this.address(host));
  }

  address(host: number): string {
    return `${this.#prefix}.${host + 1}`;
  }

  /** Returns the command prefix that runs a program on a host. */
  command(host: number): readonly [string, ...string[]] {
    return ['ip', 'netns', 'exec', this.#namespace(host)];
  }

  /** Drops every packet between a host and the others until {@link restore}. This process still reaches all of them. */
  isolate(host: number): void {
    for (const other of this.#hosts.filter((one) => one !== host)) {
      ip('-n', this.#namespace(host), 'route', 'replace', 'blackhole', this.address(other));
      ip('-n', this.#namespace(other), 'route', 'replace', 'blackhole', this.address(host));
    }
  }

  restore(): void {
    for (const host of this.#hosts) ip('-n', this.#namespace(host), 'route', 'flush', 'type', 'blackhole');
  }

  remove(): void {
    for (const host of this.#hosts) {
      ip('link', 'delete', this.#namespace(host));
      ip('netns', 'delete', this.#namespace(host));
    }
    ip('link', 'delete', this.#name);
  }

  #create(): void {
    ip('link', 'add', this.#name, 'type', 'bridge');
    ip('address', 'add', `${this.#prefix}.254/24`, 'dev', this.#name);
    ip('link', 'set', this.#name, 'up');
    for (const host of this.#hosts) {
      const name = this.#namespace(host);
      ip('netns', 'add', name);
      ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
      ip('link', 'set', name, 'master', this.#name, 'up');
      ip('-n', name, 'address', 'add', `${this.address(host)}/24`, 'dev', 'eth0');
      for (const one of ['eth0', 'lo']) ip('-n', name, 'link', 'set', one, 'up');
    }
  }

  /** Returns the name of the namespace of a host, which is also the name of its interface on the bridge. */
  #namespace(host: number): string {
    return `${this.#name}-${host}`;
  }
}

function ip(...args: readonly string[]): void {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
}
