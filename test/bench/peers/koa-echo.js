// Koa with its router and body parser, but without storage, validation and log.
import Router from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';

const router = new Router();
router.post('/plants', (ctx) => {
  const { name, tag } = ctx.request.body;
  ctx.body = { name, tag };
});

const app = new Koa();
app.use(bodyParser());
app.use(router.routes());
app.listen(Number(process.env.PORT), '127.0.0.1');
