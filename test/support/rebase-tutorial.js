// Fits the patches of docs/tutorial.md to the code. Makes a commit of each in a git worktree, rebases these commits onto
// HEAD, and writes them as patches again. After a conflict, or to change a step, edit the commits and run it again.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(repository, 'docs/tutorial');
const worktree = join(tmpdir(), 'plant-store-tutorial');
const patches = readdirSync(folder).filter((file) => file.endsWith('.patch'));

/** Runs git, and returns its output or ends the process. */
function git(cwd, ...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status === 0) return stdout;
  console.error(`${stdout}${stderr}git ${args.join(' ')} failed in ${worktree}; mend it there, then run this again`);
  process.exit(1);
}

if (!existsSync(worktree)) {
  // The patches fit the code of the commit that changed them last, unless the command line names another.
  const base = process.argv[2] ?? git(repository, 'log', '-1', '--format=%H', '--', folder).trim();
  git(repository, 'worktree', 'prune');
  git(repository, 'worktree', 'add', '--detach', worktree, base);
  symlinkSync(join(repository, 'node_modules'), join(worktree, 'node_modules'));
  for (const patch of patches) {
    git(worktree, 'apply', '--index', join(folder, patch));
    git(worktree, 'commit', '--quiet', '--message', patch);
  }
}
git(worktree, 'rebase', '--onto', git(repository, 'rev-parse', 'HEAD').trim(), `HEAD~${patches.length}`);
for (const [index, patch] of patches.entries()) {
  const last = patches.length - index;
  writeFileSync(join(folder, patch), git(worktree, 'diff', '--no-ext-diff', `HEAD~${last}`, `HEAD~${last - 1}`));
}
console.log(`The patches fit HEAD. Their commits are in ${worktree}; to remove them, run
git worktree remove --force ${worktree}`);
