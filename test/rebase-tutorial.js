// Fits the patches of docs/tutorial.md to the code. Makes a commit of each in a git worktree, on the commit that last
// changed the patches, rebases these commits onto HEAD, and writes them as patches again. After a conflict, or to change
// a step, edit the commits in the worktree and run it again.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('..', import.meta.url));
const folder = join(repository, 'docs/tutorial');
const worktree = join(tmpdir(), 'plant-store-tutorial');
const patches = readdirSync(folder).filter((name) => name.endsWith('.patch'));
const git = (cwd, ...args) => execFileSync('git', args, { cwd, encoding: 'utf8' });

if (!existsSync(worktree)) {
  const base = git(repository, 'log', '-1', '--format=%H', '--', 'docs/tutorial').trim();
  git(repository, 'worktree', 'prune');
  git(repository, 'worktree', 'add', '--detach', worktree, base);
  symlinkSync(join(repository, 'node_modules'), join(worktree, 'node_modules'));
  for (const name of patches) {
    git(worktree, 'apply', '--index', join(folder, name));
    git(worktree, 'commit', '--quiet', '--message', name);
  }
}
git(worktree, 'rebase', '--quiet', '--onto', git(repository, 'rev-parse', 'HEAD').trim(), `HEAD~${patches.length}`);
for (const [step, name] of patches.entries()) {
  const last = patches.length - step;
  writeFileSync(join(folder, name), git(worktree, 'diff', '--no-ext-diff', `HEAD~${last}`, `HEAD~${last - 1}`));
}
console.log(`The patches fit HEAD. To remove their commits: git worktree remove --force ${worktree}`);
