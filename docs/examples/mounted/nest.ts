import { Body, Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createRouter } from './express-plants.js';
import { createPlant, tokenVerifier } from './store.js';

@Controller()
class Notes {
  @Post('notes')
  create(@Body() noted: object) {
    return { noted };
  }
}

@Module({ controllers: [Notes] })
class Garden {}

const app = await NestFactory.create(Garden, { logger: ['error'] });
// `listen` adds Nest's body parser, so this is before it.
app.use('/garden', createRouter({ createPlant, tokenVerifier }));
await app.listen(Number(process.env.PORT), '127.0.0.1');
console.log(`listens on ${await app.getUrl()}`);
