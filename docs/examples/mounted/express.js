import express from 'express';
import { plants } from './plants.js';

const app = express();
app.use('/garden', plants);
app.use(express.json());
app.post('/notes', ({ body }, res) => res.json({ noted: body }));

const server = app.listen(process.env.PORT, '127.0.0.1', () => {
  console.log(`listens on http://127.0.0.1:${server.address().port}`);
});
