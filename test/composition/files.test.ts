import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readConfig } from '../../composition/config.js';
import { InvalidConfig } from '../../composition/files.js';
import { CANARY } from '../support/secret-leaks.js';
import { temporaryFolder } from '../support/temporary.js';

describe('A file that a setting names', () => {
  const path = join(temporaryFolder(), 'url');

  it('contains the URL of the storage, and takes precedence over the variable', () => {
    const url = `postgres://user:${CANARY}@db/plants`;
    writeFileSync(path, `${url}\n`);
    expect(readConfig({ DATABASE_URL_FILE: path, DATABASE_URL: 'memory:' })).to.include({ database: url });
  });

  it('is rejected if it cannot be read, or may never end; an error prints no URL that is not a path', () => {
    for (const [file, problem] of [
      ['/none/a@b', "ENOENT: no such file or directory, stat '/none/a@b'"],
      [`postgres://u:'" ${CANARY}@db/plants`, "ENOENT: no such file or directory, stat '…'"],
      ['/dev/null', 'must be a regular file of at most 1 MiB'],
      [process.execPath, 'must be a regular file of at most 1 MiB'],
    ] as const)
      expect(() => readConfig({ DATABASE_URL_FILE: file }))
        .to.throw(InvalidConfig)
        .with.property('message', `DATABASE_URL_FILE: ${problem}`);
  });

  it('has no quotes around its value, nor has a variable', () => {
    writeFileSync(path, '"memory:"\n');
    for (const [variable, text] of [
      ['PORT', '"3000"'],
      ['ACCESS_TOKENS', ` '${CANARY}'\n`],
      ['DOCS', "''"],
      ['DATABASE_URL_FILE', path],
    ] as const)
      expect(() => readConfig({ [variable]: text }))
        .to.throw(InvalidConfig)
        .with.property('message', `${variable}: must not be in quotes, which docker --env-file keeps`);
    expect(readConfig({ DATABASE_URL: '"a' })).to.include({ database: '"a' });
  });
});
