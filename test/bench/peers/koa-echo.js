// Koa as its README shows it, with @koa/router and koa-bodyparser. It stores, checks and logs nothing.
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
