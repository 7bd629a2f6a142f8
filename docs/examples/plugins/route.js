import { services } from 'plant-store';

export default (container) => {
  container.bind(services.HttpRoute).toConstantValue({
    method: 'GET',
    path: '/hello',
    respond: () => ({ status: 200, headers: { 'Content-Type': 'text/plain' }, body: 'Hello, gardener' }),
  });
};
