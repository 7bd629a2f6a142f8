import { createConfig, lint } from '@redocly/openapi-core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { services } from '../../../composition/container.js';
import { PlantRejected, StorageUnavailable, TokenIssuerUnavailable } from '../../../core/index.js';
import { exchange, RawClient, type RawResponse, request } from '../../support/raw-http.js';
import { startService, type TestService } from '../../support/service.js';
import { DESCRIPTION_FILE, declaredResponses, description, errorsOf, undeclared } from './description.js';
import { create, Gate, newPlant, post, postHead, startInTest, verdict, withAdd } from './support.js';

/** Error numbers of `POST /plants`: all except those of other paths and methods. */
const INTERFACE_ERRORS = [
  40000, 40001, 40002, 40003, 40101, 40102, 40801, 40901, 40902, 41301, 41501, 41701, 43101, 50001, 50002, 50301, 50302,
  50303, 50304,
];

type Environment = Readonly<Record<string, string>>;
type Provoked = Promise<RawResponse | undefined>;
interface Provocation {
  readonly environment?: Environment;
  readonly rebind?: Parameters<typeof startService>[1];
  act(service: TestService): Provoked;
}

const sending = (bytes: string | Uint8Array): Provocation => ({ act: ({ port }) => exchange(port, bytes) });
const broken = (error: Error): Provocation => ({
  rebind: withAdd(() => Promise.reject(error)),
  act: (service) => create(service),
});

async function createBoth(service: TestService, first: string, second: string): Provoked {
  await create(service, first);
  return create(service, second);
}

/** A request for each declared response. */
const PROVOCATIONS: Readonly<Record<number, () => Provocation>> = {
  200: () => sending(post()),
  40000: () => sending('POST /plants HTTP/1.1\r\n\r\n'),
  40001: () => sending(post('{')),
  40002: () => sending(post('{}')),
  40003: () => sending(post(newPlant({ name: '\0' }))),
  40101: () => sending(request('POST /plants')),
  40102: () => sending(post(newPlant(), { Authorization: 'Bearer wrong' })),
  40801: () => ({
    ...sending(postHead({ 'Content-Length': '1' })),
    environment: { HEADERS_TIMEOUT: '1ms', REQUEST_TIMEOUT: '1ms' },
  }),
  40901: () => ({ act: (service) => createBoth(service, '{"id":1,"name":"a"}', '{"id":1,"name":"b"}') }),
  40902: () => ({ act: (service) => createBoth(service, '{"id":1,"name":"a"}', '{"id":1,"name":"a"}') }),
  41301: () => sending(postHead({ 'Content-Length': '1048577' })),
  41501: () => sending(post(newPlant(), { 'Content-Type': 'text/plain' })),
  41701: () => sending(post(newPlant(), { Expect: 'x' })),
  43101: () => sending(post(newPlant(), { X: 'x'.repeat(17_000) })),
  50001: () => broken(new Error()),
  50002: () => ({
    rebind: withAdd(async () => [{ kind: 'rejected', error: new PlantRejected('no') }]),
    act: (service) => create(service),
  }),
  50301: () => broken(new StorageUnavailable('no response')),
  50302: () => {
    const gate = new Gate();
    return {
      environment: { MAX_PENDING: '1' },
      rebind: gate.beforeAdd(),
      act: async (service) => {
        const first = create(service);
        await gate.arrived;
        const second = await create(service);
        gate.open();
        await first;
        return second;
      },
    };
  },
  50303: () => ({
    act: async (service) => {
      const client = await RawClient.connect(service.port);
      client.send(post());
      service.stop();
      return client.readResponse();
    },
  }),
  50304: () => ({
    rebind: (container) =>
      container.rebind(services.TokenVerifier).toConstantValue({
        verify: () => Promise.reject(new TokenIssuerUnavailable('no response')),
      }),
    act: (service) => create(service),
  }),
};

describe('docs/openapi.yaml', () => {
  const startOne = startInTest(startService);
  const responses = Object.entries(declaredResponses);

  it('passes the recommended rules of the linter', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    expect(await lint({ ref: DESCRIPTION_FILE, config })).to.deep.equal([]);
  });

  it('describes exactly one operation, of interface 1.0.0 under the MIT license, in OpenAPI 3.1.0', () => {
    const { openapi, info, paths } = description;
    expect(openapi).to.equal('3.1.0');
    expect(info).to.deep.include({ version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } });
    expect(Object.entries(paths).map(([path, item]) => [path, Object.keys(item)])).to.deep.equal([
      ['/plants', ['post']],
    ]);
  });

  it('requires a bearer token on every operation', () => {
    expect(description).to.deep.nested.include({
      security: [{ bearer: [] }],
    });
    expect(description.components)
      .to.have.nested.property('securitySchemes.bearer')
      .that.includes({ type: 'http', scheme: 'bearer' });
    expect(description.components).to.have.property('securitySchemes').that.has.all.keys('bearer');
    expect(description.paths['/plants']?.['post']).to.not.have.property('security');
  });

  it('defines NewPlant as Plant plus id', () => {
    expect(description).to.have.nested.property('components.schemas.NewPlant.allOf').with.length(2);
    expect(description).to.deep.nested.include({
      'components.schemas.Plant.required': ['name'],
      'components.schemas.NewPlant.allOf[0]': { $ref: '#/components/schemas/Plant' },
      'components.schemas.NewPlant.allOf[1].required': ['id'],
    });
    expect(description).to.nested.include({
      'components.schemas.NewPlant.allOf[1].properties.id.type': 'integer',
      'components.schemas.NewPlant.allOf[1].properties.id.format': 'int64',
      'components.schemas.Error.properties.error.format': 'int32',
    });
  });

  it('declares each status separately', () => {
    for (const [status] of responses) expect(status).to.match(/^[1-5]\d\d$/);
  });

  it('lists the error numbers under their status', () => {
    for (const [status, response] of responses) {
      for (const error of errorsOf(response)) expect(Math.trunc(error / 100)).to.equal(Number(status));
    }
    expect(responses.flatMap(([, response]) => errorsOf(response))).to.have.members(INTERFACE_ERRORS);
  });

  for (const [status, response] of responses) {
    for (const outcome of status === '200' ? [200] : errorsOf(response)) {
      it(`declares the response ${outcome}`, async () => {
        const provocation = PROVOCATIONS[outcome]?.();
        const service = await startOne(provocation?.environment, provocation?.rebind);
        const received = await provocation?.act(service);
        expect(verdict(received)).to.equal(outcome);
        expect(received && undeclared(received)).to.deep.equal([]);
      });
    }
  }

  it('is public at /openapi.json', async () => {
    const { port } = await startOne();
    const response = await exchange(port, request('GET /openapi.json?x'));
    expect(response).to.include({ status: 200 }).and.nested.include({ 'headers.content-type': 'application/json' });
    expect(response?.json()).to.deep.equal({ ...description, servers: [{ url: '/' }] });
  });

  it('has a server URL from BASE_PATH, not from the Host header', async () => {
    const { port } = await startOne({ BASE_PATH: '/garden' });
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', Forwarded: 'host=evil.example' };
    const response = await exchange(port, request('GET /garden/openapi.json', headers));
    expect(response?.json()).to.deep.include({ servers: [{ url: '/garden' }] });
    expect(response?.body).to.not.include('evil');
    expect(verdict(await exchange(port, request('GET /openapi.json')))).to.equal(40401);
  });

  it('allows only GET and HEAD', async () => {
    const { port } = await startOne();
    const client = await RawClient.connect(port);
    expect(await client.send(request('HEAD /openapi.json')).readResponse('HEAD')).to.include({ status: 200 });
    client.close();
    const rejected = await exchange(port, request('POST /openapi.json', {}, '{}'));
    expect(verdict(rejected)).to.equal(40501);
    expect(rejected?.headers['allow']?.split(', ')).to.have.members(['GET', 'HEAD']);
  });
});
