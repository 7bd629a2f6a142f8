import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import type { HttpResponse } from '#contract/http/connection.js';
import { inRepository } from './paths.js';

interface DeclaredResponse {
  readonly description: string;
  readonly headers: Record<string, { readonly required?: boolean; readonly schema: object }>;
  readonly content: Record<string, { readonly schema: object }>;
}

interface Description {
  /** Operations by path, then by method in lower case. */
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, DeclaredResponse> }>>;
}

/** The source of the description, not the build output. */
export const DESCRIPTION_FILE: string = inRepository('docs/openapi.yaml');
export const description: Description = parse(readFileSync(DESCRIPTION_FILE, 'utf8'));

/** Returns a part of the description, with each reference replaced by what it refers to. */
function resolve<Part>(part: Part): Part {
  return JSON.parse(JSON.stringify(part), (_, value) => {
    if (typeof value?.$ref !== 'string') return value;
    const names: string[] = value.$ref.split('/').slice(1);
    return resolve(names.reduce((at, name) => at[name], JSON.parse(JSON.stringify(description))));
  });
}

const paths = resolve(description.paths);

/** The declared responses of all operations. */
export const declaredResponses: readonly DeclaredResponse[] = Object.values(paths)
  .flatMap((methods) => Object.values(methods))
  .flatMap(({ responses }) => Object.values(responses));

/** Returns the error numbers in the description of a response. */
export function errorsOf(response: DeclaredResponse): number[] {
  return [...response.description.matchAll(/\b\d{5}\b/g)].map(([digits]) => Number(digits));
}

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** Returns the differences between a response and its declaration, if the request line is that of an operation. */
export function undeclared({ status, headers, body }: HttpResponse, requestLine = 'POST /plants'): string[] {
  // 404 and 405 belong to no operation: a path prefix causes them, or they are for a later request of a connection.
  if ([100, 404, 405].includes(status)) return [];
  const [, method = '', path = ''] = /^(\S+) ([^\s?]+)/.exec(requestLine) ?? [];
  const template = Object.keys(paths).find((each) => RegExp(`^${each.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path));
  const operation = paths[template ?? '']?.[method.toLowerCase()];
  if (operation === undefined) return [];
  const declared = operation.responses[status];
  const schema = declared?.content[headers['content-type'] ?? '']?.schema;
  if (declared === undefined || schema === undefined) return [`status ${status} as ${headers['content-type']}`];

  const found: string[] = [];
  const json = JSON.parse(body);
  if (!ajv.validate(schema, json)) found.push(`body ${body}`);
  if (status !== 200 && !errorsOf(declared).includes(json.error)) found.push(`error ${json.error}`);
  for (const [name, { required, schema }] of Object.entries(declared.headers)) {
    const text = headers[name.toLowerCase()];
    // A header is text that is parsed by its schema (OpenAPI 3.1.0, "style: simple").
    const isValid = ajv.validate(schema, text) || (/^\d+$/.test(`${text}`) && ajv.validate(schema, Number(text)));
    if (text === undefined ? required : !isValid) found.push(`${name} is wrong`);
  }
  // No operation declares the headers of the message and the connection.
  const known = ['content-type', 'content-length', 'date', 'connection', 'keep-alive'];
  known.push(...Object.keys(declared.headers).map((name) => name.toLowerCase()));
  return [...found, ...Object.keys(headers).filter((name) => !known.includes(name))];
}
