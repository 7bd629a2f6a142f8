import type { Data } from './data.js';
export function chartOf(_data: Data): string {
  return '';
}
