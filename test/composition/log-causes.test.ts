import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { logCauses } from '../../composition/log-causes.js';

describe('A readiness check', () => {
  it('logs its first failure, and each with another cause than the one before', async () => {
    let code = '';
    const lines: unknown[] = [];
    const storage = {
      name: 'storage',
      async check() {
        if (code) throw new StorageUnavailable(`unavailable (${code})`);
      },
    };
    const warn = ({ err }: { err?: Error }) => void lines.push(err?.message);
    const { name, check } = logCauses(storage, { warn });
    expect(name).to.equal('storage');
    for (code of ['', 'ECONNREFUSED', 'ECONNREFUSED', '42501', '42501', '', '42501']) await check().catch(() => {});
    expect(lines).to.deep.equal(['ECONNREFUSED', '42501', '42501'].map((cause) => `unavailable (${cause})`));
  });
});
