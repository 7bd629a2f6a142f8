// Uses the documentation page in Chromium as people do, and prints its observations as JSON:
//
//     node test/interop/visit-page.js http://127.0.0.1:3000/ TOKEN [FOLDER]
//
// With FOLDER, saves screenshots there.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [url, token, folder] = process.argv.slice(2);
/** 2^53 + 1. No odd number from here on is a JavaScript number. */
const FIRST_ID = 9007199254740993n;
/** Maximum number of Tab presses between two elements. */
const MAX_TABS = 60;
const axe = readAxe();

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
const DESKTOP = { viewport: { width: 1280, height: 960 } };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true };
const visits = [];
for (const [visitor, device, colorScheme, createInput] of [
  ['light', DESKTOP, 'light', withPointer],
  ['dark', DESKTOP, 'dark', withPointer],
  ['phone-light', PHONE, 'light', withPointer],
  ['phone-dark', PHONE, 'dark', withPointer],
  ['keyboard', DESKTOP, 'dark', withKeyboard],
]) {
  const context = await browser.newContext({ ...device, colorScheme });
  visits.push({ visitor, colorScheme, ...(await visit(context, visitor, colorScheme, createInput)) });
  await context.close();
}
await browser.close();
process.stdout.write(JSON.stringify(visits));

/** Enters the token, then sends a plant, its duplicate and a conflicting plant. */
async function visit(context, visitor, colorScheme, createInput) {
  const page = await context.newPage();
  const requests = [];
  const consoleMessages = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => consoleMessages.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => consoleMessages.push(`${error}`));
  await page.exposeFunction('reportViolation', (text) => consoleMessages.push(text));
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      globalThis.reportViolation(`${event.violatedDirective}: ${event.blockedURI}`);
    });
  });

  await page.goto(url);
  // The page must ignore these parameters; otherwise a link could make it send tokens to another host.
  await page.goto(`${page.url()}?url=https://evil.example/openapi.json&configUrl=https://evil.example/config.json`);
  await page.locator('.opblock-body').waitFor();
  if (folder) await page.screenshot({ path: join(folder, `page-${visitor}.png`) });

  const id = `${FIRST_ID + 2n * BigInt(visits.length)}`;
  const plant = `{"id": ${id}, "name": "Monstera", "tag": "indoor"}`;
  const { openDialog, authorise, send, withoutFocusIndicator } = createInput(page);
  await openDialog();
  const dialogViolations = await findViolations(page);
  await authorise();
  const responses = [await send(plant), await send(plant), await send(plant.replace('Monstera', 'Calathea'))];
  const accessibilityViolations = axe && [...new Set([...dialogViolations, ...(await findViolations(page))])];

  const appearance = await page.evaluate(appearanceOf);
  await page.emulateMedia({ colorScheme: colorScheme === 'dark' ? 'light' : 'dark' });
  await page.waitForFunction((before) => document.documentElement.className !== before, appearance.className);
  const changedAppearance = await page.evaluate(appearanceOf);

  const storage = JSON.stringify(await context.storageState({ indexedDB: true }));
  await page.reload();
  await page.locator('.opblock-body').waitFor();
  const isLoggedOutAfterReload = await page.locator('.btn.authorize.unlocked').isVisible();
  return {
    id,
    responses,
    accessibilityViolations,
    withoutFocusIndicator,
    consoleMessages,
    requests,
    appearance,
    changedAppearance,
    storesToken: storage.includes(token),
    isLoggedOutAfterReload,
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
    openDialog: () => page.getByRole('button', { name: 'Authorize' }).click(),
    async authorise() {
      await page.locator('.modal-ux input').fill(token);
      await page.getByRole('button', { name: 'Apply credentials' }).click();
      await page.locator('.modal-ux .btn-done').click();
      await page.getByRole('button', { name: 'Try it out' }).click();
    },
    async send(body) {
      await page.getByLabel('Body').fill(body);
      return readResponseTo(page, () => page.getByRole('button', { name: 'Execute' }).click());
    },
  };
}

function withKeyboard(page) {
  const { keyboard } = page;
  const withoutFocusIndicator = [];
  const tabTo = async (selector, key = 'Tab') => {
    for (let tabs = 0; tabs < MAX_TABS; tabs++) {
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
  const press = async (selector) => {
    await tabTo(selector);
    await keyboard.press('Enter');
  };
  let keyToBody = 'Tab';
  return {
    withoutFocusIndicator,
    openDialog: () => press('.btn.authorize'),
    async authorise() {
      await tabTo('.modal-ux input');
      await keyboard.type(token);
      await press('.modal-ux .btn.authorize');
      await press('.modal-ux .btn-done');
      await press('.try-out__btn');
    },
    async send(body) {
      await tabTo('.body-param__text', keyToBody);
      keyToBody = 'Shift+Tab';
      await keyboard.press('Control+A');
      await keyboard.type(body);
      return readResponseTo(page, () => press('.btn.execute'));
    },
  };
}

/** Sends a request and reads the response from the page. */
async function readResponseTo(page, send) {
  const isPost = (response) => response.request().method() === 'POST';
  const [response] = await Promise.all([page.waitForResponse(isPost), send()]);
  const shown = page.locator('.live-responses-table .response', { hasText: response.headers()['x-request-id'] });
  const body = shown.locator('.response-col_description pre').first();
  return { status: response.status(), shown: JSON.parse(await body.textContent()) };
}

/** Returns the accessibility rules that axe finds violated. */
async function findViolations(page) {
  if (axe === undefined) return [];
  await page.evaluate(axe);
  // Wait for colour transitions, which would distort the contrast.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map(({ id }) => id);
}

function readAxe() {
  try {
    return readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  } catch {
    return undefined;
  }
}
