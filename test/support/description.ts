import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import type { HttpResponse } from '../contract/http/connection.js';
import { inRepository } from './paths.js';

/** The source of the description, not the build output. */
export const DESCRIPTION_FILE: string = inRepository('docs/openapi.yaml');

interface DeclaredHeader {
  readonly required?: boolean;
  readonly schema?: object;
}

/** The parts of a declared response that the tests read. */
export interface DeclaredResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, DeclaredHeader>>;
  readonly content: Readonly<Record<string, { readonly schema: object }>>;
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly example: unknown }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example: unknown }>> };
  readonly responses: Readonly<Record<string, DeclaredResponse>>;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: { readonly Plant: { readonly properties: object; readonly required: readonly string[] } };
  };
}

/** `docs/openapi.yaml`. */
export const description: Description = parse(readFileSync(DESCRIPTION_FILE, 'utf8'));

/** Returns a part of the description, with each reference replaced by what it refers to. */
function resolve<Part>(part: Part): Part {
  return JSON.parse(JSON.stringify(part), (_, value) => {
    if (typeof value?.$ref !== 'string') return value;
    const names: string[] = value.$ref.split('/').slice(1);
    return resolve(names.reduce((at, name) => at[name], JSON.parse(JSON.stringify(description))));
  });
}

/** The operations of the description by method and path, such as `POST /plants`. */
export const operations: Readonly<Record<string, Operation>> = Object.fromEntries(
  Object.entries(resolve(description).paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
  ),
);

/** Returns the responses that the operation of a request line declares; `undefined` if there is no such operation. */
function responsesTo(requestLine: string) {
  const [, method = '', path = ''] = /^(\S+) ([^\s?]+)\S*( HTTP\/1\.[01])?$/.exec(requestLine) ?? [];
  const isMatch = (template: string) =>
    RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(`${method} ${path}`);
  return Object.entries(operations).find(([template]) => isMatch(template))?.[1].responses;
}

/** Returns the error numbers in the description of a response. */
export function errorsOf({ description }: DeclaredResponse): number[] {
  return [...description.matchAll(/\b\d{5}\b/g)].map(([digits]) => Number(digits));
}

/** Headers of the message or the connection, which no operation declares. */
const TRANSPORT_HEADERS = ['content-type', 'content-length', 'date', 'connection', 'keep-alive'];

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

/** Returns the differences between a response and its declaration, if the request line is that of an operation. */
export function undeclared(response: HttpResponse, requestLine = 'POST /plants'): string[] {
  const responses = responsesTo(requestLine);
  const declared = responses?.[response.status];
  // 404 and 405 belong to no operation: a path prefix causes them, or they are for a later request of a connection.
  if (responses === undefined || (declared === undefined && [100, 404, 405].includes(response.status))) return [];
  const contentType = response.headers['content-type'] ?? '';
  const schema = declared?.content[contentType]?.schema;
  if (declared === undefined || schema === undefined) return [`status ${response.status} as ${contentType}`];

  const body = JSON.parse(response.body);
  const headers = Object.entries(declared.headers ?? {}).map(([name, header]) => [name.toLowerCase(), header] as const);
  const names = [...TRANSPORT_HEADERS, ...headers.map(([name]) => name)];
  const others = Object.keys(response.headers).filter((name) => !names.includes(name));
  const wrong = headers.filter(([name, header]) => !isAsDeclared(header, response.headers[name]));
  return [
    ...(ajv.validate(schema, body) ? [] : [`body ${response.body}`]),
    ...(response.status === 200 || errorsOf(declared).includes(body.error) ? [] : [`error ${body.error}`]),
    ...others.map((name) => `header ${name}`),
    ...wrong.map(([name]) => `${name} is wrong`),
  ];
}

function isAsDeclared({ required = false, schema = {} }: DeclaredHeader, text: string | undefined): boolean {
  if (text === undefined) return !required;
  // A header is text that is parsed by its schema (OpenAPI 3.1.0, "style: simple").
  return ajv.validate(schema, text) || (/^\d+$/.test(text) && ajv.validate(schema, Number(text)));
}
