import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/memory/index.js';
import { durablePlantRepositoryContract, plantRepositoryContract, plantRepositoryOutageContract, tokenVerifierContract, tokenVerifierOutageContract, } from '../contract/index.js';
import { runContract } from '../support/run-contract.js';
import { AskingVerifier, brokenOnDisk, brokenWithIssuer, DiskRepository } from './broken-by-cases.js';
import { brokenRepositories, brokenVerifiers } from './broken-by-documentation.js';
import { caughtBy } from './caught-by.js';
/** A token as an issuer makes it. */
const TOKEN = 'Xq7-vR2m.Zk9~Lw4+Hd8/Pb==';
describe('The contract of PlantRepository', () => {
    describe('lets a right adapter pass:', () => {
        runContract(plantRepositoryContract, { open: async () => new MemoryPlantRepository() });
    });
    describe('lets a right adapter pass that has a disk:', () => {
        runContract(durablePlantRepositoryContract, onDisk((disk) => new DiskRepository(disk)));
        runContract(plantRepositoryOutageContract, onDisk((disk) => new DiskRepository(disk)));
    });
    describe('catches an adapter where', () => {
        for (const { fault, create } of brokenRepositories) {
            catches(fault, caseFor(fault), plantRepositoryContract, () => ({ open: async () => create() }));
        }
    });
    describe('catches an adapter with a disk where', () => {
        for (const { fault, caughtBy: name, open } of brokenOnDisk) {
            const isOutage = plantRepositoryOutageContract.some((promise) => promise.name === name);
            if (isOutage)
                catches(fault, name, plantRepositoryOutageContract, () => onDisk(open));
            else
                catches(fault, name, durablePlantRepositoryContract, () => onDisk(open));
        }
    });
});
describe('The contract of TokenVerifier', () => {
    describe('lets a right adapter pass:', () => {
        runContract(tokenVerifierContract, withIssuer((issuer) => new AskingVerifier(issuer)));
        runContract(tokenVerifierOutageContract, withIssuer((issuer) => new AskingVerifier(issuer)));
    });
    describe('catches an adapter where', () => {
        for (const { fault, create } of brokenVerifiers) {
            catches(fault, caseFor(fault), tokenVerifierContract, () => ({
                create: async () => create(TOKEN),
                validToken: TOKEN,
            }));
        }
    });
    describe('catches an adapter with an issuer where', () => {
        for (const { fault, caughtBy: name, create } of brokenWithIssuer) {
            catches(fault, name, tokenVerifierOutageContract, () => withIssuer(create));
        }
    });
});
describe('A case of a contract', () => {
    const all = [
        ...durablePlantRepositoryContract,
        ...plantRepositoryOutageContract,
        ...tokenVerifierContract,
        ...tokenVerifierOutageContract,
    ];
    it('has a name of its own', () => {
        expect(new Set(all.map(({ name }) => name))).to.have.lengthOf(all.length);
    });
    it('is known by each fault that it must catch', () => {
        const faults = [...brokenRepositories, ...brokenVerifiers].map(({ fault }) => fault);
        expect(Object.values(caughtBy).flat()).to.have.members(faults);
        expect(all.map(({ name }) => name)).to.include.members(Object.keys(caughtBy));
    });
});
describe('The contracts run under node:test, too:', () => {
    const run = (adapter) => {
        const file = fileURLToPath(new URL('../support/node-test-contract.js', import.meta.url));
        // Without it node:test would take itself for a part of another run.
        const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
        return spawnSync(process.execPath, ['--test', '--test-reporter=tap', file], {
            env: { ...environment, ADAPTER: adapter },
            encoding: 'utf8',
        });
    };
    it('a right adapter passes every case', () => {
        const { status, stdout } = run('right');
        expect(stdout).to.match(new RegExp(`^# pass ${plantRepositoryContract.length}$`, 'm'));
        expect(status, stdout).to.equal(0);
    });
    it('a broken adapter fails the case that names its fault', () => {
        const { status, stdout } = run('broken');
        expect(stdout).to.match(/^ *not ok \d+ - closing twice does nothing$/m);
        expect(status, stdout).to.equal(1);
    });
});
/** One test: the case of that name fails. */
function catches(fault, caseName, contract, harness) {
    it(`${fault}: "${caseName}"`, async () => {
        const promise = contract.find(({ name }) => name === caseName);
        if (promise === undefined)
            throw new Error(`the contract has no case "${caseName}"`);
        const isKept = await promise.run(harness()).then(() => true, () => false);
        expect(isKept, 'whether the broken adapter passes').to.equal(false);
    });
}
function caseFor(fault) {
    return Object.keys(caughtBy).find((name) => caughtBy[name]?.includes(fault)) ?? 'none, add one';
}
function onDisk(open) {
    let disk;
    return {
        open: async () => {
            disk = { plants: new Map(), isAway: false };
            return open(disk);
        },
        reopen: async () => open(disk),
        withStorageAway: async (work) => {
            disk.isAway = true;
            await work().finally(() => {
                disk.isAway = false;
            });
        },
    };
}
function withIssuer(create) {
    const issuer = { validToken: TOKEN, isAway: false };
    return {
        create: async () => create(issuer),
        validToken: TOKEN,
        withIssuerAway: async (work) => {
            issuer.isAway = true;
            await work().finally(() => {
                issuer.isAway = false;
            });
        },
    };
}
//# sourceMappingURL=contract-bites.test.js.map