import { createKoaApp } from '@plant-store/adapters/koa';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import mount from 'koa-mount';
import { closeContainer, createContainer, httpModule, readConfig, services } from 'plant-store';

const config = readConfig(process.env);
const container = await createContainer(config, httpModule);
const plants = createKoaApp(await container.getAsync(services.HttpApi));

const app = new Koa();
// Before any middleware that reads bodies, because the HTTP API reads ids from the bytes.
app.use(mount('/garden', plants));
app.use(bodyParser());
app.use(async (ctx) => {
  if (ctx.path === '/notes') ctx.body = { noted: ctx.request.body };
});

const server = app.listen(config.port, config.host, () => {
  console.log(`listens on http://${config.host}:${server.address().port}`);
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close(() => closeContainer(container)));
