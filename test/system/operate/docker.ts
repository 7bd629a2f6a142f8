// Runs the `docker` commands of the guide without Docker: buildah builds images; namespaces and a cgroup of the kernel
// isolate containers.
// Arguments: those of `docker build` or `docker run`. Differences: a container uses the network of this machine, so
// `--publish` does nothing and the tests choose PORT; volumes are folders in $DOCKER_VOLUMES; `--detach`, `--name` and
// `--restart` are ignored, so that the caller sees the output and the exit code.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';

const MIB = 1024 ** 2;

const options = {
  'cap-drop': { type: 'string' },
  detach: { type: 'boolean', short: 'd' },
  env: { type: 'string', short: 'e', multiple: true, default: [] },
  interactive: { type: 'boolean', short: 'i' },
  memory: { type: 'string' },
  name: { type: 'string' },
  publish: { type: 'string', short: 'p', multiple: true },
  'read-only': { type: 'boolean' },
  restart: { type: 'string' },
  rm: { type: 'boolean' },
  'security-opt': { type: 'string' },
  'stop-timeout': { type: 'string' },
  volume: { type: 'string', short: 'v', multiple: true, default: [] },
} as const satisfies ParseArgsConfig['options'];

/** Configuration of an image. */
interface ImageConfig {
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Env: readonly string[];
  readonly User: string;
  readonly WorkingDir: string;
}

const [command, ...args] = process.argv.slice(2);
if (command === 'build') {
  const nodeImage = `NODE=${process.env['DOCKER_NODE_IMAGE']}`;
  const own = ['--isolation', 'chroot', '--format', 'docker', '--jobs', '2', '--build-arg', nodeImage];
  process.exitCode = spawnSync('buildah', ['build', ...own, ...args], { stdio: 'inherit' }).status ?? 1;
} else if (command === 'run') process.exitCode = await run(args);
else throw new Error(`docker ${command} is not supported`);

async function run(all: readonly string[]): Promise<number> {
  // What follows the image belongs to the program.
  const { tokens } = parseArgs({ args: [...all], options, allowPositionals: true, strict: false, tokens: true });
  const at = tokens.find(({ kind }) => kind === 'positional')?.index ?? all.length;
  const { values } = parseArgs({ args: all.slice(0, at), options });
  const [image = '', ...programArgs] = all.slice(at);

  const inspected: { Docker: { config: ImageConfig } } = JSON.parse(buildah('inspect', '--type', 'image', image));
  const { config } = inspected.Docker;
  const container = buildah('from', image);
  const root = buildah('mount', container);
  const mounts = values.volume.map((volume) => {
    const [name = '', path = ''] = volume.split(':');
    const folder = resolve(process.env['DOCKER_VOLUMES'] ?? '', name);
    // A new volume gets the owner of the folder in the image.
    if (!existsSync(folder)) spawnSync('cp', ['-a', join(root, path), folder]);
    return [folder, path] as const;
  });
  const [uid = '', gid = ''] = config.User.split(':');
  const restrict = [
    ...(values['cap-drop'] === 'ALL' ? ['--bounding-set=-all', '--inh-caps=-all'] : []),
    ...(values['security-opt'] === 'no-new-privileges' ? ['--no-new-privs'] : []),
  ];
  const cgroup = values.memory === undefined ? undefined : createMemoryCgroup(Number.parseInt(values.memory, 10) * MIB);
  const script = `
    set -e
    ${cgroup ? `echo $$ > ${cgroup}/cgroup.procs` : ''}
    mount --rbind ${root} ${root}
    mount -t proc proc ${root}/proc
    mount --rbind /dev ${root}/dev
    mount --rbind /sys ${root}/sys
    mount --bind /etc/resolv.conf ${root}/etc/resolv.conf
    ${mounts.map(([folder, path]) => `mount --bind ${folder} ${root}${path}`).join('\n')}
    ${values['read-only'] ? `mount -o remount,bind,ro ${root}` : ''}
    exec chroot ${root} setpriv --reuid ${uid} --regid ${gid} --clear-groups ${restrict.join(' ')} \\
      env -i -C ${config.WorkingDir} "$@"`;
  const given = values.env.map((text) => (text.includes('=') ? text : `${text}=${process.env[text] ?? ''}`));
  const environment = [...config.Env, ...(process.env['DOCKER_ENV'] ?? '').split(' ').filter(Boolean), ...given];
  const program = [...config.Entrypoint, ...(programArgs.length > 0 ? programArgs : config.Cmd)];
  const child = spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, 'sh', ...environment, ...program],
    { stdio: [values.interactive ? 'inherit' : 'ignore', 'inherit', 'inherit'] },
  );
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // unshare itself ignores the signal; its child is process 1 of the container.
      const first = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
      process.kill(Number(first), signal);
    });
  }
  const exitCode = await new Promise<number>((exited) => child.once('close', (code) => exited(code ?? 1)));
  if (cgroup) rmdirSync(cgroup);
  buildah('rm', container);
  return exitCode;
}

/** Creates a cgroup that limits memory. Returns its folder. */
function createMemoryCgroup(bytes: number): string {
  const [parent, file] = existsSync('/sys/fs/cgroup/memory')
    ? ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes']
    : ['/sys/fs/cgroup', 'memory.max'];
  const folder = join(parent, `plant-store-test-${process.pid}`);
  mkdirSync(folder);
  writeFileSync(join(folder, file), `${bytes}`);
  return folder;
}

function buildah(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('buildah', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`buildah ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
}
