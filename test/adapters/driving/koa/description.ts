import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import type { HttpResponse } from '../../../contract/http/connection.js';

/** The source of the description, not the build output. */
export const DESCRIPTION_FILE: string = fileURLToPath(new URL('../../../../../docs/openapi.yaml', import.meta.url));

interface DeclaredHeader {
  readonly $ref?: string;
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
  readonly security?: unknown;
  readonly parameters?: readonly { readonly name: string; readonly example: unknown }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example: unknown }>> };
  readonly responses: Readonly<Record<string, DeclaredResponse>>;
}

interface Description {
  readonly [member: string]: unknown;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly headers: Readonly<Record<string, DeclaredHeader>> };
}

/** `docs/openapi.yaml`. */
export const description: Description = parse(readFileSync(DESCRIPTION_FILE, 'utf8'));

/** The operations of the description by method and path, such as `POST /plants`. */
export const operations: Readonly<Record<string, Operation>> = Object.fromEntries(
  Object.entries(description.paths).flatMap(([path, item]) =>
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
ajv.addSchema(description, 'description');

/** Returns the differences between a response and its declaration, if the request line is that of an operation. */
export function undeclared(response: HttpResponse, requestLine = 'POST /plants'): string[] {
  const responses = responsesTo(requestLine);
  // 404 and 405 belong to no operation: a path prefix causes them, or they are for a later request of a connection.
  const declared = responses?.[response.status];
  if (responses === undefined || (declared === undefined && [100, 404, 405].includes(response.status))) return [];
  if (declared === undefined) return [`status ${response.status}`];
  const mediaType = declared.content[response.headers['content-type'] ?? ''];
  if (mediaType === undefined) return [`content type ${response.headers['content-type']}`];

  const headers = Object.entries(declared.headers ?? {}).map(
    ([name, header]) => [name.toLowerCase(), resolve(header)] as const,
  );
  const names = new Set([...TRANSPORT_HEADERS, ...headers.map(([name]) => name)]);
  return [
    ...(isValid(mediaType.schema, JSON.parse(response.body)) ? [] : [`body ${response.body}`]),
    ...undeclaredErrors(declared, response),
    ...Object.keys(response.headers)
      .filter((name) => !names.has(name))
      .map((name) => `header ${name}`),
    ...headers
      .filter(([name, header]) => !isAsDeclared(header, response.headers[name]))
      .map(([name]) => `${name} is wrong`),
  ];
}

function undeclaredErrors(declared: DeclaredResponse, response: HttpResponse): string[] {
  const body: unknown = JSON.parse(response.body);
  if (typeof body !== 'object' || body === null || !('error' in body)) return [];
  return errorsOf(declared).some((error) => error === body.error) ? [] : [`error ${body.error}`];
}

function isAsDeclared({ required = false, schema = {} }: DeclaredHeader, text: string | undefined): boolean {
  if (text === undefined) return !required;
  // A header is text that is parsed by its schema (OpenAPI 3.1.0, "style: simple").
  return isValid(schema, text) || (/^\d+$/.test(text) && isValid(schema, Number(text)));
}

function resolve(header: DeclaredHeader): DeclaredHeader {
  const name = /^#\/components\/headers\/(.*)$/.exec(header.$ref ?? '')?.[1];
  return (name === undefined ? undefined : description.components.headers[name]) ?? header;
}

const validators = new Map<object, ValidateFunction>();

function isValid(schema: object, value: unknown): boolean {
  const text = JSON.stringify(schema).replaceAll('"#/', '"description#/');
  const validate = validators.get(schema) ?? ajv.compile(JSON.parse(text));
  validators.set(schema, validate);
  return validate(value);
}
