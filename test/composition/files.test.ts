import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readConfig } from '../../composition/config.js';
import { problemsOf } from '../support/problems.js';
import { CANARY } from '../support/secret-leaks.js';
import { temporaryFolder } from '../support/temporary.js';

const JWT = { JWT_ISSUER: 'https://issuer.example/', JWT_AUDIENCE: 'plants', JWT_JWKS_URL: 'https://issuer.example/' };

describe('A file that a setting names', () => {
  const folder = temporaryFolder();

  it('rejects quotes around a whole value, also in a file, and says where they come from', () => {
    const path = join(folder, 'quoted-url');
    writeFileSync(path, '"memory:"\n');
    for (const [variable, text] of [
      ['PORT', '"3000"'],
      ['DATABASE_URL', "'sqlite:./plants.db'"],
      ['JWT_ISSUER', ` "${CANARY}"\n`],
      ['DOCS', "''"],
      ['DATABASE_URL_FILE', path],
    ] as const)
      expect(problemsOf({ ...JWT, [variable]: text })).to.deep.equal([
        `${variable}: must not be in quotes, which docker --env-file keeps`,
      ]);
    expect(readConfig({ ...JWT, JWT_AUDIENCE: '"a' })).to.include({ jwtAudience: '"a' });
  });

  it('reads the URL of the storage from a file, which wins', () => {
    const path = join(folder, 'url');
    const url = `postgres://user:${CANARY}@db/plants`;
    writeFileSync(path, `${url}\n`);
    expect(readConfig({ DATABASE_URL_FILE: path, DATABASE_URL: 'memory:' })).to.include({ database: url });
  });
});
