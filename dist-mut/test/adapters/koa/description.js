import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
/** The description itself, not what the build makes of it. */
export const DESCRIPTION_FILE = fileURLToPath(new URL('../../../../docs/openapi.yaml', import.meta.url));
/** `docs/openapi.yaml`. */
export const description = parse(readFileSync(DESCRIPTION_FILE, 'utf8'));
/** The answers that are declared for `POST /plants`, by status. */
export const declaredResponses = description.paths['/plants']?.['post']?.responses ?? {};
/** The error numbers that the description of an answer names. */
export function errorsOf({ description }) {
    return [...description.matchAll(/\b\d{5}\b/g)].map(([digits]) => Number(digits));
}
/** Headers that belong to the message or the connection, not to the operation. */
const TRANSPORT_HEADERS = ['content-type', 'content-length', 'date', 'connection', 'keep-alive'];
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema(description, 'description');
/** What about an answer to `POST /plants` is not as the description declares it; nothing where all is. */
export function undeclared(answer) {
    const response = declaredResponses[answer.status];
    if (response === undefined)
        return [`status ${answer.status}`];
    const mediaType = response.content[answer.headers['content-type'] ?? ''];
    if (mediaType === undefined)
        return [`content type ${answer.headers['content-type']}`];
    const headers = Object.entries(response.headers ?? {}).map(([name, header]) => [name.toLowerCase(), resolve(header)]);
    const names = new Set([...TRANSPORT_HEADERS, ...headers.map(([name]) => name)]);
    return [
        ...(isValid(mediaType.schema, answer.json()) ? [] : [`body ${answer.body}`]),
        ...namedErrors(response, answer),
        ...Object.keys(answer.headers)
            .filter((name) => !names.has(name))
            .map((name) => `header ${name}`),
        ...headers
            .filter(([name, header]) => !isAsDeclared(header, answer.headers[name]))
            .map(([name]) => `${name} is wrong`),
    ];
}
function namedErrors(response, answer) {
    const body = answer.json();
    if (typeof body !== 'object' || body === null || !('error' in body))
        return [];
    return errorsOf(response).some((error) => error === body.error) ? [] : [`error ${body.error}`];
}
function isAsDeclared({ required = false, schema = {} }, text) {
    if (text === undefined)
        return !required;
    // A header is text; a number is what its text says (OpenAPI 3.1.0, "style: simple").
    return isValid(schema, text) || (/^\d+$/.test(text) && isValid(schema, Number(text)));
}
function resolve(header) {
    const name = /^#\/components\/headers\/(.*)$/.exec(header.$ref ?? '')?.[1];
    return (name === undefined ? undefined : description.components.headers[name]) ?? header;
}
const validators = new Map();
function isValid(schema, value) {
    const text = JSON.stringify(schema).replaceAll('"#/', '"description#/');
    const validate = validators.get(schema) ?? ajv.compile(JSON.parse(text));
    validators.set(schema, validate);
    return validate(value);
}
//# sourceMappingURL=description.js.map