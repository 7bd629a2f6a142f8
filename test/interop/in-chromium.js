/** Runs a module in Chromium and prints its first console message: `node in-chromium.js CHROMIUM FILE`. */
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

const [executablePath, file] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
try {
  const page = await browser.newPage();
  const firstMessage = new Promise((resolve, reject) => {
    page.on('console', (message) => resolve(message.text()));
    page.on('pageerror', reject);
  });
  await page.addScriptTag({ type: 'module', content: readFileSync(file, 'utf8') });
  console.log(await firstMessage);
} finally {
  await browser.close();
}
