// NestJS on Express, with its validation pipe, and TypeORM on better-sqlite3. Decorators are applied as functions,
// because JavaScript has no syntax for them.
import 'reflect-metadata';
import {
  Body,
  ConflictException,
  Controller,
  HttpCode,
  Module,
  Post,
  UnauthorizedException,
  ValidationPipe,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IsInt, IsOptional, IsString } from 'class-validator';
import { DataSource, EntitySchema } from 'typeorm';
import { isAuthorized } from './requests.js';

const plantEntity = new EntitySchema({
  name: 'Plant',
  tableName: 'plants',
  columns: {
    id: { type: 'integer', primary: true },
    name: { type: 'text' },
    tag: { type: 'text', nullable: true },
  },
});

const dataSource = new DataSource({
  type: 'better-sqlite3',
  database: process.env.DATABASE_FILE,
  entities: [plantEntity],
  synchronize: true,
  enableWAL: true,
  // The default of better-sqlite3 with a write-ahead log is NORMAL.
  prepareDatabase: (database) => database.pragma('synchronous = FULL'),
});
await dataSource.initialize();
const plants = dataSource.getRepository(plantEntity);

class NewPlant {}
IsInt()(NewPlant.prototype, 'id');
IsString()(NewPlant.prototype, 'name');
IsOptional()(NewPlant.prototype, 'tag');
IsString()(NewPlant.prototype, 'tag');

class PlantsController {
  async create({ id, name, tag }) {
    try {
      await plants.insert({ id, name, tag });
    } catch (error) {
      if (error.code !== 'SQLITE_CONSTRAINT_PRIMARYKEY') throw error;
      throw new ConflictException('the id is in use');
    }
    return { name, tag };
  }
}
Reflect.decorate(
  [Post(), HttpCode(200), Reflect.metadata('design:paramtypes', [NewPlant])],
  PlantsController.prototype,
  'create',
  Object.getOwnPropertyDescriptor(PlantsController.prototype, 'create'),
);
Body()(PlantsController.prototype, 'create', 0);
Controller('plants')(PlantsController);

const guard = {
  canActivate(context) {
    if (isAuthorized(context.switchToHttp().getRequest().headers.authorization)) return true;
    throw new UnauthorizedException();
  },
};

class AppModule {}
Module({ controllers: [PlantsController] })(AppModule);

const app = await NestFactory.create(AppModule, { logger: false });
app.useGlobalGuards(guard);
app.useGlobalPipes(new ValidationPipe());
await app.listen(Number(process.env.PORT), '127.0.0.1');
