/**
 * The page of an alarm in a real browser: the button is pressed with a mouse, without JavaScript, on a phone and in the
 * dark. `PAGE_PICTURES=DIR` keeps what it looks like. Time limit: 180 s.
 */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { signedLinks } from '../../../src/daemon/alarm-links.ts';
import { PAGE_HEADERS } from '../../../src/http/acknowledge/page.ts';
import { closing } from '../../closing.ts';
import { runUnless, without } from '../../skipped.ts';
import { checkIn, type Fixture, hooks, LINK_KEY, newSnitch, snitchNow } from '../fixture.ts';
import { Chromium, type Page } from './chromium.ts';

const test = suite<Fixture>('the page of an alarm in a browser');
test.before.each(hooks.start);
test.after.each(hooks.close);

const PHONE = 360;

async function alarmOf(context: Fixture, name: string) {
  const snitch = await newSnitch(context.acme, { name });
  await checkIn(context, snitch.token, `?s=3&m=${encodeURIComponent('no space left on device')}`);
  const [newest] = await context.store.listAlerts(context.acme.id, snitch.token, { limit: 1, before: null });
  if (!newest) throw new Error('there is no alert');
  const base = `http://127.0.0.1:${context.port}`;
  return { snitch, link: signedLinks(() => LINK_KEY).urlOf(newest.alert, base) ?? '' };
}

async function keepPicture(page: Page, name: string): Promise<void> {
  const dir = process.env.PAGE_PICTURES;
  if (dir) writeFileSync(join(dir, `${name}.png`), await page.picture());
}

test('the button acknowledges without JavaScript, and the policy is never violated', async (context) => {
  const { acme, clock } = context;
  const { snitch, link } = await alarmOf(context, 'nightly-backup');
  await using browser = new Chromium();
  const page = await browser.openPage();
  await page.resize(PHONE, 740);
  await page.open(link);
  assert.match(await page.text(), 'no space left on device');
  assert.is((await snitchNow(acme, snitch.token)).acknowledged, null, 'looking changes nothing');
  await keepPicture(page, 'light');
  clock.now += 5_000;
  await page.type('input[name=by]', 'Ann Example');
  await page.type('input[name=note]', 'I am on it <b>now</b>');
  await page.click('button');
  assert.match(await page.text(), 'Acknowledged by Ann Example');
  await keepPicture(page, 'acknowledged');
  assert.equal((await snitchNow(acme, snitch.token)).acknowledged, {
    at: new Date(clock.now).toISOString(),
    by: 'Ann Example',
    note: 'I am on it <b>now</b>',
  });
  await page.open(link);
  assert.match(await page.text(), 'It was acknowledged already, by Ann Example');
  assert.equal(page.complaints, []);
  assert.equal([...new Set(page.requests)], [new URL(link).pathname], 'nothing else is loaded');
});

test('it fits a phone, and is readable by day and in the dark', async (context) => {
  const name = `نسخة احتياطية \u202e${'x'.repeat(200)} <script>`;
  const { link } = await alarmOf(context, name);
  await using browser = new Chromium();
  const page = await browser.openPage();
  await page.resize(PHONE, 740);
  for (const scheme of ['light', 'dark'] as const) {
    await page.colorScheme(scheme);
    await page.open(link);
    await keepPicture(page, `long-${scheme}`);
    assert.is(await page.contentWidth(), PHONE, 'nothing has to be scrolled to the side');
    const [left, top, right, bottom] = await page.box('button');
    assert.ok(left >= 0 && right <= PHONE && right - left > 200, `${left} to ${right}`);
    assert.ok(bottom - top >= 44, 'large enough for a thumb');
    const back = await page.style('body', 'background-color');
    for (const element of ['body', '.bad', '.dim', 'dt', 'h1', 'input']) {
      const contrast = contrastOf(await page.style(element, 'color'), back);
      assert.ok(contrast >= 4.5, `${element} in ${scheme}: ${contrast}`);
    }
    const button = contrastOf(
      await page.style('button', 'color'),
      await page.style('button', 'background-color'),
    );
    assert.ok(button >= 4.5, `the button in ${scheme}: ${button}`);
    assert.is(lightness(back) < 0.5, scheme === 'dark');
  }
  assert.equal(page.complaints, []);
});

test('the test does notice a violation of the policy', async () => {
  using server = closing(
    createServer((_request, response) => {
      response.writeHead(200, PAGE_HEADERS);
      response.end('<!DOCTYPE html><main style="color:red">x</main><img src="/picture.png">');
    }),
  );
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  await using browser = new Chromium();
  const page = await browser.openPage();
  await page.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  assert.match(page.complaints.join('\n'), /Content.?Security.?Policy/);
});

/** Relative luminance, from 0 for black to 1 for white, as WCAG 2 defines it. */
function lightness(color: string): number {
  const [red = 0, green = 0, blue = 0] = (/\d+(?:, \d+){2}/.exec(color)?.[0] ?? '')
    .split(', ')
    .map((part) => Number(part) / 255)
    .map((part) => (part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(one: string, other: string): number {
  const [light = 0, dark = 0] = [lightness(one), lightness(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

runUnless(without('chromium'), test, 'the page of an alarm in a browser');
