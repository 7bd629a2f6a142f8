// Reads the page at /docs as people do, in Chromium, and prints what it saw as JSON:
//
//     node test/wide/look-at-page.js http://127.0.0.1:3000/ TOKEN [FOLDER]
//
// With a folder it saves pictures there.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [url, token, folder] = process.argv.slice(2);
/** Above 2^53 and odd, as each second one after it: none of them is a JavaScript number. */
const FIRST_ID = 9007199254740993n;
/** How often Tab may be pressed on the way from one thing to the next. */
const TABS_MAX = 60;
const axe = sourceOfAxe();

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
for (const [reader, device, colorScheme, hands] of [
  ['light', DESKTOP, 'light', withPointer],
  ['dark', DESKTOP, 'dark', withPointer],
  ['phone-light', PHONE, 'light', withPointer],
  ['phone-dark', PHONE, 'dark', withPointer],
  ['keyboard', DESKTOP, 'dark', withKeyboard],
]) {
  const context = await browser.newContext({ ...device, colorScheme });
  visits.push({ reader, colorScheme, ...(await visit(context, reader, colorScheme, hands)) });
  await context.close();
}
await browser.close();
process.stdout.write(JSON.stringify(visits));

/** One reader: types in the token, creates a plant, again the same one, and another under its id. */
async function visit(context, reader, colorScheme, hands) {
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
  if (folder) await page.screenshot({ path: join(folder, `page-${reader}.png`) });

  const id = `${FIRST_ID + 2n * BigInt(visits.length)}`;
  const plant = `{"id": ${id}, "name": "Monstera", "tag": "indoor"}`;
  const { openDialog, authorise, send, unmarked } = hands(page);
  await openDialog();
  const inDialog = await barriersIn(page);
  await authorise();
  const answers = [await send(plant), await send(plant), await send(plant.replace('Monstera', 'Calathea'))];
  const barriers = axe && [...new Set([...inDialog, ...(await barriersIn(page))])];

  const look = await page.evaluate(lookOf);
  await page.emulateMedia({ colorScheme: colorScheme === 'dark' ? 'light' : 'dark' });
  await page.waitForFunction((before) => document.documentElement.className !== before, look.className);
  const changedLook = await page.evaluate(lookOf);

  const kept = JSON.stringify(await context.storageState({ indexedDB: true }));
  await page.reload();
  await page.locator('.opblock-body').waitFor();
  const isForgotten = await page.locator('.btn.authorize.unlocked').isVisible();
  return {
    id,
    answers,
    barriers,
    unmarked,
    complaints,
    requests,
    look,
    changedLook,
    keepsToken: kept.includes(token),
    isForgotten,
  };
}

/** What a reader sees; runs in the page. */
function lookOf() {
  const { className, scrollWidth, clientWidth } = document.documentElement;
  const background = getComputedStyle(document.documentElement).backgroundColor;
  return { className, background, overflowPx: scrollWidth - clientWidth };
}

/** By what one can tell that an element has the focus; runs in the page. */
function marksOf(element) {
  const { outlineStyle, borderColor, boxShadow } = getComputedStyle(element);
  return [outlineStyle, borderColor, boxShadow].join();
}

function withPointer(page) {
  return {
    unmarked: [],
    openDialog: () => page.getByRole('button', { name: 'Authorize' }).click(),
    async authorise() {
      await page.locator('.modal-ux input').fill(token);
      await page.getByRole('button', { name: 'Apply credentials' }).click();
      await page.locator('.modal-ux .btn-done').click();
      await page.getByRole('button', { name: 'Try it out' }).click();
    },
    async send(body) {
      await page.getByLabel('Body').fill(body);
      return answerTo(page, () => page.getByRole('button', { name: 'Execute' }).click());
    },
  };
}

function withKeyboard(page) {
  const { keyboard } = page;
  const unmarked = [];
  const tabTo = async (selector, key = 'Tab') => {
    for (let tabs = 0; tabs < TABS_MAX; tabs++) {
      const focused = await page.evaluateHandle(() => document.activeElement);
      if (await focused.evaluate((element, wanted) => element.matches(wanted), selector)) return;
      const marked = await focused.evaluate(marksOf);
      await keyboard.press(key);
      const html = await focused.evaluate((element) => element.outerHTML);
      if ((await focused.evaluate(marksOf)) === marked && !html.startsWith('<body')) unmarked.push(html);
    }
    throw new Error(`no way to ${selector} by ${key}`);
  };
  const press = async (selector) => {
    await tabTo(selector);
    await keyboard.press('Enter');
  };
  let toBody = 'Tab';
  return {
    unmarked,
    openDialog: () => press('.btn.authorize'),
    async authorise() {
      await tabTo('.modal-ux input');
      await keyboard.type(token);
      await press('.modal-ux .btn.authorize');
      await press('.modal-ux .btn-done');
      await press('.try-out__btn');
    },
    async send(body) {
      await tabTo('.body-param__text', toBody);
      toBody = 'Shift+Tab';
      await keyboard.press('Control+A');
      await keyboard.type(body);
      return answerTo(page, () => press('.btn.execute'));
    },
  };
}

/** Sends, and reads the answer where it stands on the page. */
async function answerTo(page, send) {
  const isPost = (response) => response.request().method() === 'POST';
  const [response] = await Promise.all([page.waitForResponse(isPost), send()]);
  const answer = page.locator('.live-responses-table .response', { hasText: response.headers()['x-request-id'] });
  const body = answer.locator('.response-col_description pre').first();
  return { status: response.status(), shown: JSON.parse(await body.textContent()) };
}

/** What axe finds to stand in somebody's way. */
async function barriersIn(page) {
  if (axe === undefined) return [];
  await page.evaluate(axe);
  // Colours that are on their way to others have the contrast of neither.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)));
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map(({ id }) => id);
}

function sourceOfAxe() {
  try {
    return readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  } catch {
    return undefined;
  }
}
