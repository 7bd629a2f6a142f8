/** Runs a module in Chromium, and prints what it says on the console: `node in-chromium.js CHROMIUM FILE`. */
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [executablePath, file] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
try {
  const page = await browser.newPage();
  const said = new Promise((resolve, reject) => {
    page.on('console', (message) => resolve(message.text()));
    page.on('pageerror', reject);
  });
  await page.addScriptTag({ type: 'module', content: readFileSync(file, 'utf8') });
  console.log(await said);
} finally {
  await browser.close();
}
