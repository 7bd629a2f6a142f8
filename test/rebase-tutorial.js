// Fits the patches of docs/tutorial.md to the code. Makes a commit of each in a git worktree, rebases these commits onto
// HEAD, and writes them as patches again. After a conflict, or to change a step, edit the commits and run it again.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('..', import.meta.url));
const folder = join(repository, 'docs/tutorial');
const worktree = join(tmpdir(), 'plant-store-tutorial');
const names = readdirSync(folder).filter((file) => file.endsWith('.patch'));
const patches = names.map((name) => join(folder, name));

/** Runs git, and returns its output or ends the process. */
function git(cwd, ...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status === 0) return stdout.replace(/\n$/, '');
  console.error(`${stdout}${stderr}git ${args.join(' ')} failed; mend it in ${worktree}, then run this again`);
  process.exit(1);
}

/** Commits the code that the patches were made for: each file as it was for the first patch that changes it. */
function commitBase() {
  const text = patches.map((patch) => readFileSync(patch, 'utf8')).join('');
  const changes = [...text.matchAll(/^diff --git a\/(\S+) .*\n(?:new file .*\n)?index (\w+)/gm)].toReversed();
  for (const [file, blob] of new Map(changes.map(([, file, blob]) => [file, blob])))
    if (!/^0+$/.test(blob))
      git(worktree, 'update-index', '--cacheinfo', `100644,${git(worktree, 'rev-parse', blob)},${file}`);
  git(worktree, 'commit', '--quiet', '--allow-empty', '--message', 'base');
  git(worktree, 'reset', '--quiet', '--hard');
}

if (!existsSync(worktree)) {
  git(repository, 'worktree', 'prune');
  git(repository, 'worktree', 'add', '--detach', worktree);
  symlinkSync(join(repository, 'node_modules'), join(worktree, 'node_modules'));
  commitBase();
  for (const [step, patch] of patches.entries()) {
    git(worktree, 'apply', '--index', patch);
    git(worktree, 'commit', '--quiet', '--message', names[step]);
  }
}
git(worktree, 'rebase', '--onto', git(repository, 'rev-parse', 'HEAD'), `HEAD~${patches.length}`);
for (const [step, patch] of patches.entries()) {
  const last = patches.length - step;
  writeFileSync(patch, `${git(worktree, 'diff', '--no-ext-diff', `HEAD~${last}`, `HEAD~${last - 1}`)}\n`);
}
console.log(`The patches fit HEAD. Their commits are in ${worktree}; to remove them, run
git worktree remove --force ${worktree}`);
