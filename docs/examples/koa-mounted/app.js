import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import mount from 'koa-mount';
import { createApp } from 'plant-store/adapters/koa';
import { createContainer, readConfig, services } from 'plant-store/composition';

const config = readConfig(process.env);
const container = createContainer(config);
const storage = await container.getAsync(services.Storage);
const plants = createApp({
  ...config,
  docs: false,
  createPlant: await container.getAsync(services.CreatePlant),
  tokenVerifier: await container.getAsync(services.TokenVerifier),
  log: await container.getAsync(services.Logger),
});

const app = new Koa();

// The app's own error handling. The HTTP API handles its errors itself.
app.use(async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    ctx.status = error.status ?? 500;
    ctx.body = `Sorry: ${ctx.status}`;
  }
});

// Mounted before the body parser, because the HTTP API reads ids from the bytes.
app.use(mount('/garden', plants));

app.use(bodyParser());
app.use(async (ctx) => {
  if (ctx.path === '/notes') ctx.body = { noted: ctx.request.body };
  else ctx.throw(404);
});

const server = app.listen(config.port, config.host, () => {
  console.log(`listens on http://${config.host}:${server.address().port}`);
});
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.close(() => storage.close()));
}
