/**
 * The status page in a real browser, without JavaScript: on a phone and on a desk, by day and in the dark, with the names that
 * people give when they try. `PAGE_PICTURES=DIR` keeps what it looks like. Time limit: 240 s.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runUnless, without } from '../../../skipped.ts';
import { Chromium, type Page } from '../../acknowledge/chromium.ts';
import { ok } from '../../expect.ts';
import { checkIn, type Fixture, HOUR, hooks, MINUTE, newSnitch, sweep } from '../../fixture.ts';

const test = suite<Fixture>('the status page in a browser');
test.before.each(hooks.start);
test.after.each(hooks.close);

const WIDTHS = [320, 1_024];
const SCHEMES = ['light', 'dark'] as const;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

async function keepPicture(page: Page, name: string): Promise<void> {
  const dir = process.env.PAGE_PICTURES;
  if (dir) writeFileSync(join(dir, `${name}.png`), await page.picture(true));
}

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What axe-core finds, as sentences. */
async function violations(page: Page): Promise<string[]> {
  const found = await page.evaluate<Violation[]>(
    `${AXE}; axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations.map(({id, nodes}) =>
       ({id, nodes: nodes.map(({html, failureSummary}) => ({html, failureSummary}))})))`,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

/** A case as a small company has it, with a past of some days. */
async function company(context: Fixture): Promise<void> {
  const { acme, clock } = context;
  ok(await acme.write.patch('/v1/case', { timezone: 'Europe/Berlin' }));
  const jobs = [
    ['nightly-backup', 'daily', ['public', 'Backups']],
    ['db-dump.weekly', 'daily', ['public', 'Backups']],
    ['mail-queue', 'hourly', ['public', 'Shop']],
    ['invoice-export', 'hourly', ['public', 'Shop']],
    ['certificates', 'hourly', ['public']],
    ['search-index', 'hourly', ['public', 'Shop']],
    ['new-job', 'hourly', ['public']],
  ] as const;
  const tokens: Record<string, string> = {};
  for (const [name, interval, tags] of jobs)
    tokens[name] = (await newSnitch(acme, { name, interval, tags })).token;
  const at = (name: string) => tokens[name] ?? '';
  ok(
    await acme.write.put('/v1/status_page', {
      slug: 'acme',
      title: 'Acme: are our jobs well?',
      tags: ['public'],
      groups: ['Shop', 'Backups'],
      announcement:
        'We are moving to the new host on Friday evening.\nDetails: https://example.com/moving?from=a&to=b.',
    }),
  );
  for (let hour = 0; hour < 50; hour += 1) {
    for (const [name, interval] of jobs) {
      if (name === 'new-job' || (interval === 'daily' && hour % 24 !== 3)) continue;
      if (name === 'invoice-export' && hour > 30 && hour < 36) continue;
      if (name === 'mail-queue' && hour === 49) continue;
      if (name === 'search-index' && hour > 20 && hour < 40) continue;
      await checkIn(context, at(name), name === 'certificates' && hour > 10 && hour < 13 ? '?s=1' : '');
    }
    if (hour === 20) await acme.write.post(`/v1/snitches/${at('search-index')}/pause`, { until: 'unpaused' });
    if (hour === 40) await acme.write.post(`/v1/snitches/${at('search-index')}/unpause`);
    clock.now += HOUR;
    await sweep(context);
  }
  await checkIn(context, at('certificates'), '?s=1');
  clock.now += 7 * MINUTE;
}

test('it is readable at every width, by day and in the dark, and axe-core finds nothing', async (context) => {
  await company(context);
  await using browser = new Chromium();
  const page = await browser.openPage();
  for (const width of WIDTHS) {
    await page.resize(width, 800);
    for (const scheme of SCHEMES) {
      await page.colorScheme(scheme);
      await page.open(`http://127.0.0.1:${context.port}/s/acme`);
      await keepPicture(page, `page-${width}-${scheme}`);
      assert.is(await page.contentWidth(), width, 'nothing has to be scrolled to the side');
      assert.equal(await violations(page), [], `${width} ${scheme}`);
    }
  }
  assert.match(await page.text(), /mail-queue\s*Has not reported for/);
  assert.equal(page.complaints, []);
  assert.equal(
    [...new Set(page.requests)].filter((one) => !one.startsWith('data:')),
    ['/s/acme'],
    'nothing else is loaded',
  );
});

test('names that try to break it stay inside of their places', async (context) => {
  const { acme } = context;
  const names = [
    'x'.repeat(255),
    `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`,
    'abc\u202egnp.exe',
    '\u200b\u2060\u200e',
    '\u0627\u0644\u0646\u0633\u062e\u0629 \u0627\u0644\u0627\u062d\u062a\u064a\u0627\u0637\u064a\u0629',
    '&lt;b&gt; &amp; ]]>',
    'Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320\u034dA'.repeat(
      8,
    ),
  ];
  for (const name of names) {
    const { token } = await newSnitch(acme, { name, tags: ['public', name.slice(0, 100).trim() || 'x'] });
    await checkIn(context, token, '?s=1');
  }
  ok(
    await acme.write.put('/v1/status_page', {
      slug: 'acme',
      title: `</title><h1>${'y'.repeat(60)}\u202e`,
      tags: ['public'],
      groups: ['x'.repeat(100), `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`],
      announcement: `<script>alert(2)</script>\n</p>${'z'.repeat(300)} javascript:alert(3) https://a.example/"onmouseover="alert(4) \u202e`,
    }),
  );
  await using browser = new Chromium();
  const page = await browser.openPage();
  await page.resize(320, 800);
  for (const scheme of SCHEMES) {
    await page.colorScheme(scheme);
    await page.open(`http://127.0.0.1:${context.port}/s/acme`);
    await keepPicture(page, `hostile-${scheme}`);
    assert.is(await page.contentWidth(), 320);
    assert.equal(await violations(page), []);
  }
  const elements = await page.evaluate<string[]>(
    `[...document.querySelectorAll('script,img,[onerror],[onmouseover],a[href^="javascript"]')].map((one) => one.outerHTML)`,
  );
  assert.equal(elements, []);
  const shown = await page.evaluate<string[]>(
    `[...document.querySelectorAll('.name')].map((one) => one.textContent)`,
  );
  assert.ok(
    shown.includes('(no name)') && shown.includes('abcgnp.exe') && shown.includes(names[1] ?? ''),
    shown.join(),
  );
  assert.equal(page.complaints, []);
});

test('the password is asked for with a form, and the page follows', async (context) => {
  const { acme, port } = context;
  await newSnitch(acme, { name: 'the-job', tags: ['public'] });
  const password = 'correct horse';
  ok(
    await acme.write.put('/v1/status_page', { slug: 'acme', title: 'Only ours', tags: ['public'], password }),
  );
  await using browser = new Chromium();
  const page = await browser.openPage();
  await page.resize(320, 700);
  await page.open(`http://127.0.0.1:${port}/s/acme`);
  assert.not.match(await page.text(), 'the-job');
  for (const scheme of SCHEMES) {
    await page.colorScheme(scheme);
    await keepPicture(page, `password-${scheme}`);
    assert.equal(await violations(page), []);
  }
  await page.type('#password', 'wrong horse');
  await page.click('button');
  assert.match(await page.text(), 'That is not the password.');
  assert.equal(await violations(page), []);
  await page.type('#password', password);
  await page.click('button');
  assert.match(await page.text(), 'the-job');
});

runUnless(without('chromium'), test, 'the status page in a browser');
