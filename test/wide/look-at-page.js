// Reads the page at /docs as people do, in Chromium, and prints what it saw as JSON:
//
//     node test/wide/look-at-page.js http://127.0.0.1:3000/ TOKEN [FOLDER]
//
// With a folder it saves a picture of each visit there.
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [url, token, folder] = process.argv.slice(2);
/** Above 2^53 and odd: none of them is a JavaScript number. */
const FIRST_ID = 9007199254740993n;
/** How often Tab may be pressed on the way from one thing to the next. */
const TABS_MAX = 60;

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

const visits = [];
for (const [device, width, height] of [
  ['desktop', 1280, 960],
  ['phone', 390, 844],
]) {
  for (const colorScheme of ['light', 'dark']) {
    visits.push(await visit(device, colorScheme, { width, height }, withPointer));
  }
}
visits.push(await visit('keyboard', 'light', { width: 1280, height: 960 }, withKeyboard));
await browser.close();
process.stdout.write(JSON.stringify(visits));

/** One reader: creates a plant, again the same one, and another under its id. */
async function visit(device, colorScheme, viewport, hands) {
  const context = await browser.newContext({ viewport, colorScheme, isMobile: device === 'phone' });
  const page = await context.newPage();
  const requests = [];
  const complaints = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(`${error}`));
  await page.exposeFunction('complain', (text) => complaints.push(text));
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      globalThis.complain(`${event.violatedDirective}: ${event.blockedURI}`);
    });
  });

  await page.goto(url);
  // Were the page to heed it, a link could have it show, and send tokens to, another host.
  await page.goto(`${page.url()}?url=https://evil.example/openapi.json&configUrl=https://evil.example/config.json`);
  await page.locator('.opblock-body').waitFor();
  const id = `${FIRST_ID + 2n * BigInt(visits.length)}`;
  const plant = `{"id": ${id}, "name": "Monstera", "tag": "indoor"}`;
  const { authorise, send } = hands(page);
  await authorise();
  const picture = { path: join(folder ?? '', `page-${device}-${colorScheme}.png`) };
  if (folder) await page.screenshot(picture);
  const answers = [await send(plant), await send(plant), await send(plant.replace('Monstera', 'Calathea'))];
  const look = await page.evaluate(lookOf);

  await page.emulateMedia({ colorScheme: colorScheme === 'dark' ? 'light' : 'dark' });
  const changed = await page.evaluate(lookOf);
  const kept = JSON.stringify(await context.storageState());
  await page.reload();
  await page.locator('.opblock-body').waitFor();
  const isForgotten = (await page.locator('.btn.authorize.unlocked').count()) === 1;
  await context.close();
  return { device, colorScheme, id, answers, requests, complaints, look, changed, keepsToken: kept.includes(token), isForgotten };
}

/** What a reader sees; runs in the page. */
function lookOf() {
  const { documentElement } = document;
  return {
    isDark: documentElement.classList.contains('dark-mode'),
    background: getComputedStyle(documentElement).backgroundColor,
    overflowPx: documentElement.scrollWidth - documentElement.clientWidth,
  };
}

function withPointer(page) {
  return {
    async authorise() {
      await page.getByRole('button', { name: 'Authorize' }).click();
      await page.locator('.modal-ux input').fill(token);
      await page.getByRole('button', { name: 'Apply credentials' }).click();
      await page.getByRole('button', { name: 'Close', exact: true }).click();
      await page.getByRole('button', { name: 'Try it out' }).click();
    },
    async send(body) {
      await page.locator('.body-param__text').fill(body);
      return answerTo(page, () => page.getByRole('button', { name: 'Execute' }).click());
    },
  };
}

function withKeyboard(page) {
  const { keyboard } = page;
  const tabTo = async (selector) => {
    for (let tabs = 0; tabs < TABS_MAX; tabs++) {
      await keyboard.press('Tab');
      if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) return;
    }
    throw new Error(`no way to ${selector} by Tab`);
  };
  const press = async (selector) => {
    await tabTo(selector);
    await keyboard.press('Enter');
  };
  return {
    async authorise() {
      await press('.btn.authorize');
      await tabTo('.modal-ux input');
      await keyboard.type(token);
      await press('.modal-ux .btn.authorize');
      await press('.modal-ux .btn-done');
      await press('.try-out__btn');
    },
    async send(body) {
      await tabTo('.body-param__text');
      await keyboard.press('Control+A');
      await keyboard.type(body);
      return answerTo(page, () => press('.btn.execute'));
    },
  };
}

/** Sends, and reads the answer from the page as it stands there. */
async function answerTo(page, send) {
  const [response] = await Promise.all([page.waitForResponse((response) => response.request().method() === 'POST'), send()]);
  const answer = page.locator('.live-responses-table .response', { hasText: `${response.status()}` });
  return { status: response.status(), shown: JSON.parse(await answer.locator('pre').first().innerText()) };
}
