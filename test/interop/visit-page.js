// Uses the documentation page in Chromium as people do, and prints its observations as JSON. Arguments: its URL, a token,
// and optionally a folder for screenshots.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [url, token, folder] = process.argv.slice(2);
/** 2^53 + 1. No odd number from here on is a JavaScript number. */
const FIRST_ID = 9007199254740993n;
/** Rules of axe that Swagger UI itself violates. */
const SWAGGER_UI_VIOLATIONS = ['heading-order', 'label-content-name-mismatch', 'nested-interactive', 'region'];
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const DESKTOP = { viewport: { width: 1280, height: 960 } };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true };
const VISITORS = [
  ['light', DESKTOP, 'light', withPointer],
  ['dark', DESKTOP, 'dark', withPointer],
  ['phone-light', PHONE, 'light', withPointer],
  ['phone-dark', PHONE, 'dark', withPointer],
  ['keyboard', DESKTOP, 'dark', withKeyboard],
];

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const visits = {};
for (const [index, [visitor, device, colorScheme, createInput]] of VISITORS.entries()) {
  const context = await browser.newContext({ ...device, colorScheme });
  visits[visitor] = await visit(context, visitor, colorScheme, createInput, FIRST_ID + 2n * BigInt(index));
  await context.close();
}
await browser.close();
process.stdout.write(JSON.stringify(visits));

/** Enters the token, then sends a plant, its duplicate and a conflicting plant. */
async function visit(context, visitor, colorScheme, createInput, id) {
  const page = await context.newPage();
  const requests = [];
  const consoleMessages = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => consoleMessages.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => consoleMessages.push(`${error}`));
  await page.goto(url);
  // The page must ignore these parameters; otherwise a link could make it send tokens to another host.
  await page.goto(`${page.url()}?url=https://evil.example/openapi.json&configUrl=https://evil.example/config.json`);
  await page.locator('.opblock-body').waitFor();
  if (folder) await page.screenshot({ path: join(folder, `page-${visitor}.png`) });

  const plant = `{"id": ${id}, "name": "Monstera", "tag": "indoor"}`;
  const input = createInput(page);
  await input.press('.btn.authorize');
  const violations = await findViolations(page);
  await input.fill('.modal-ux input', token);
  for (const button of ['.modal-ux .btn.authorize', '.modal-ux .btn-done', '.try-out__btn']) await input.press(button);
  const responses = [];
  for (const sent of [plant, plant, plant.replace('Monstera', 'Calathea')])
    responses.push(await send(page, input, sent));
  violations.push(...(await findViolations(page)));

  const appearance = await page.evaluate(appearanceOf);
  await page.emulateMedia({ colorScheme: colorScheme === 'dark' ? 'light' : 'dark' });
  await page.waitForFunction((before) => document.documentElement.className !== before, appearance.className);
  const changedAppearance = await page.evaluate(appearanceOf);

  const storage = JSON.stringify(await context.storageState({ indexedDB: true }));
  await page.reload();
  await page.locator('.opblock-body').waitFor();
  return {
    responses,
    appearances: [appearance, changedAppearance],
    storesToken: storage.includes(token),
    isLoggedOutAfterReload: await page.locator('.btn.authorize.unlocked').isVisible(),
    requestsToOtherHosts: requests.filter((target) => !target.startsWith(url) && !target.startsWith('data:')),
    violations: violations.filter((rule) => !SWAGGER_UI_VIOLATIONS.includes(rule)),
    withoutFocusIndicator: input.withoutFocusIndicator,
    consoleMessages,
  };
}

/** Returns colours and overflow of the page; runs in the page. */
function appearanceOf() {
  const { className, scrollWidth, clientWidth } = document.documentElement;
  const background = getComputedStyle(document.documentElement).backgroundColor;
  return { className, background, overflowPx: scrollWidth - clientWidth };
}

/** Returns the styles that can indicate focus; runs in the page. */
function focusStyleOf(element) {
  const { outlineStyle, borderColor, boxShadow } = getComputedStyle(element);
  return [outlineStyle, borderColor, boxShadow].join();
}

function withPointer(page) {
  return {
    withoutFocusIndicator: [],
    press: (selector) => page.locator(selector).click(),
    fill: (selector, text) => page.locator(selector).fill(text),
  };
}

function withKeyboard(page) {
  const { keyboard } = page;
  const withoutFocusIndicator = [];
  const filled = new Set();
  const tabTo = async (selector, key = 'Tab') => {
    for (let tabs = 0; tabs < 60; tabs++) {
      const focused = await page.evaluateHandle(() => document.activeElement);
      if (await focused.evaluate((element, wanted) => element.matches(wanted), selector)) return;
      const focusedStyle = await focused.evaluate(focusStyleOf);
      await keyboard.press(key);
      const html = await focused.evaluate((element) => element.outerHTML);
      if ((await focused.evaluate(focusStyleOf)) === focusedStyle && !html.startsWith('<body'))
        withoutFocusIndicator.push(html);
    }
    throw new Error(`cannot reach ${selector} with ${key}`);
  };
  return {
    withoutFocusIndicator,
    async press(selector) {
      await tabTo(selector);
      await keyboard.press('Enter');
    },
    async fill(selector, text) {
      // The focus is already behind a field that was filled before.
      await tabTo(selector, filled.has(selector) ? 'Shift+Tab' : 'Tab');
      filled.add(selector);
      await keyboard.press('Control+A');
      await keyboard.type(text);
    },
  };
}

/** Sends a plant; returns the status and the body that the page shows. */
async function send(page, { fill, press }, plant) {
  await fill('.body-param__text', plant);
  const isPost = (response) => response.request().method() === 'POST';
  const [response] = await Promise.all([page.waitForResponse(isPost), press('.btn.execute')]);
  const shown = page.locator('.live-responses-table .response', { hasText: response.headers()['x-request-id'] });
  const body = shown.locator('.response-col_description pre').first();
  return [response.status(), JSON.parse(await body.textContent())];
}

/** Returns the accessibility rules that axe finds violated. */
async function findViolations(page) {
  await page.evaluate(axe);
  // Wait for colour transitions, which would distort the contrast.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map(({ id }) => id);
}
