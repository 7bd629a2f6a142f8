/**
 * Returns the files of the main entry point: `import 'plant-store'` throws an error that names the entry points, because the
 * one of Node names none.
 */
export function mainEntryPoint(exports) {
  const entryPoints = Object.keys(exports).filter((path) => path !== '.');
  const names = entryPoints.map((path) => path.replace('.', 'plant-store')).join(', ');
  const message = `plant-store has no main entry point; import one of ${names}`;
  return {
    'index.js': `throw new Error('${message}');\n`,
    'index.d.ts': `/** ${message}. */\nexport {};\n`,
  };
}
