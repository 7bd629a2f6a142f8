import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve, TOKEN } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { installed } from './interop.js';

/** 2⁵³ + 1, which no JavaScript number can represent. */
const ID = 9007199254740993n;

describe('The documentation page in Chromium', () => {
  it('creates a plant with the exact id, and connects to no other host, whatever the link says', async function () {
    skipUnlessInstalled(this, 'chromium', '--version');
    const folder = temporaryFolder();
    const service = serve(folder, { BASE_PATH: '/garden' });
    const url = `http://127.0.0.1:${await service.port()}/garden/`;
    const { chromium } = await import(installed('playwright-core/index.mjs'));
    const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    try {
      const page = await browser.newPage();
      const problems: string[] = [];
      page.on('request', (request: { url(): string }) => {
        if (!request.url().startsWith(url) && !request.url().startsWith('data:')) problems.push(request.url());
      });
      page.on('console', (message: { text(): string }) => problems.push(message.text()));
      page.on('pageerror', (error: Error) => problems.push(`${error}`));

      await page.goto(url);
      await page.goto(`${page.url()}?url=https://evil.example/openapi.json&configUrl=https://evil.example/config.json`);
      await page.locator('.btn.authorize').first().click();
      await page.locator('.modal-ux input').fill(TOKEN);
      for (const button of ['.modal-ux .btn.authorize', '.modal-ux .btn-done', '.try-out__btn'])
        await page.locator(button).click();
      await page.locator('.body-param__text').fill(`{"id":${ID},"name":"Monstera"}`);
      const [response] = await Promise.all([
        page.waitForResponse((each: { url(): string }) => each.url() === `${url}plants`),
        page.locator('.btn.execute').click(),
      ]);
      expect([response.status(), await response.json()]).to.deep.equal([200, { name: 'Monstera' }]);
      expect(problems).to.deep.equal([]);
    } finally {
      await browser.close();
    }
    expect(await sqliteStore(`${folder}/plants.db`).readPlants()).to.deep.equal([{ id: ID, name: 'Monstera' }]);
  });
});
