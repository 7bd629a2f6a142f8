import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { logCauses } from '../../composition/log-causes.js';

describe('A readiness check', () => {
  it('logs its first failure, each with another cause than the one before, and its recovery', async () => {
    let code = '';
    const lines: unknown[] = [];
    const storage = {
      name: 'storage',
      async check() {
        if (code) throw new StorageUnavailable(`unavailable (${code})`);
      },
    };
    const warn = (...[fields]: unknown[]) => void lines.push(Object(fields).err.message);
    const info = (...[, message]: unknown[]) => void lines.push(message);
    const { name, check } = logCauses(storage, { info, warn });
    expect(name).to.equal('storage');
    for (code of ['', 'ECONNREFUSED', 'ECONNREFUSED', '42501', '42501', '', '42501']) await check().catch(() => {});
    const [refused, denied] = ['unavailable (ECONNREFUSED)', 'unavailable (42501)'];
    expect(lines).to.deep.equal([refused, denied, 'ready again', denied]);
  });
});
