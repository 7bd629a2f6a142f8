import express from 'express';
import { createRouter } from './express-plants.js';
import { createPlant, tokenVerifier } from './store.js';

const app = express();
app.use('/garden', createRouter({ createPlant, tokenVerifier }));
app.use(express.json());
app.post('/notes', ({ body }, res) => res.json({ noted: body }));

const server = app.listen(process.env.PORT, '127.0.0.1', () => {
  console.log(`listens on http://127.0.0.1:${server.address().port}`);
});
