import { HttpApi } from '@plant-store/adapters/http';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { StaticTokenVerifier } from '@plant-store/adapters/static-token';
import { CreatePlant } from '@plant-store/core';

/** What the apps in this folder mount. For durable plants, use a SQL repository in group commit. */
export const createPlant = new CreatePlant(new MemoryPlantRepository());
export const tokenVerifier = new StaticTokenVerifier([process.env.ACCESS_TOKENS]);
export const api = new HttpApi({ createPlant, tokenVerifier });

/** Middleware of Express and of frameworks like it. Use it before any middleware that reads bodies. */
export async function plants(req, res, next) {
  const endpoint = api.endpoints.find(({ path }) => path === req.path);
  if (endpoint === undefined) return next();
  const { status, headers, body } = await endpoint.handle({ req, res, originalUrl: req.originalUrl });
  res.statusCode = status;
  res.setHeaders(new Map(Object.entries(headers))).end(body);
}
