// Koa as in its README, with @koa/router and koa-bodyparser, but without storage, validation and log.
import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';

const app = new Koa();
const router = new Router();

router.post('/plants', (ctx) => {
  const { name, tag } = ctx.request.body;
  ctx.body = { name, tag };
});

app.use(bodyParser());
app.use(router.routes());
app.use(router.allowedMethods());

const server = app.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listens on http://127.0.0.1:${server.address().port}`);
});
