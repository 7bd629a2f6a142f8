import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import mount from 'koa-mount';
import { AdmissionControl, createApp } from 'plant-store/adapters/koa';
import { createContainer, readConfig, services } from 'plant-store/composition';

const config = readConfig(process.env);
const container = createContainer(config);
const repository = await container.getAsync(services.PlantRepository);
const admission = new AdmissionControl(config);
const plants = createApp({
  createPlant: await container.getAsync(services.CreatePlant),
  tokenVerifier: await container.getAsync(services.TokenVerifier),
  codec: await container.getAsync(services.PlantCodec),
  description: await container.getAsync(services.OpenApiDescription),
  log: await container.getAsync(services.Logger),
  admission,
  basePath: '',
  bodyLimitBytes: config.bodyLimitBytes,
  storageTimeoutMs: config.storageTimeoutMs,
});

const app = new Koa();

// The app's own error handling. The interface handles its errors itself.
app.use(async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    ctx.status = error.status ?? 500;
    ctx.body = `Sorry: ${ctx.status}`;
  }
});

// Mounted before the body parser, because the interface reads ids from the bytes.
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
  process.once(signal, () => {
    admission.stop();
    server.close(() => repository.close());
  });
}
