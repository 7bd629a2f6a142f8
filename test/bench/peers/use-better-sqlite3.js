// `node --import` this file to run a program on better-sqlite3 instead of sqlite3.
import { register } from 'node:module';

const replacement = new URL('sqlite3-on-better-sqlite3.js', import.meta.url);
const hook = `export const resolve = (name, context, next) => next(name === 'sqlite3' ? '${replacement}' : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
