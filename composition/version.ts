import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** The version of the package. */
export const version: string = manifest.version;
/** The oldest Node that it supports. */
export const minimumNode: string = manifest.engines.node.replace('>=', '');
