import { createKoaApp } from '@plant-store/adapters/koa';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import mount from 'koa-mount';
import { createContainer, readConfig, services } from 'plant-store';

const config = readConfig(process.env);
const container = await createContainer(config);
const plants = createKoaApp({
  ...config,
  createPlant: await container.getAsync(services.CreatePlant),
  tokenVerifier: await container.getAsync(services.TokenVerifier),
  log: await container.getAsync(services.Logger),
});

const app = new Koa();
app.use(mount('/garden', plants));
app.use(bodyParser());
app.use(async (ctx) => {
  if (ctx.path === '/notes') ctx.body = { noted: ctx.request.body };
});

const server = app.listen(config.port, config.host, () => {
  console.log(`listens on http://${config.host}:${server.address().port}`);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close(() => container.close()));
