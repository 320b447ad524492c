/** What the dashboard shows of alerts that are held, and what a snitch needs in its form. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { UNICODE } from '../../../src/tui/drawing/glyphs.ts';
import { detailLines } from '../../../src/tui/model/detail-lines.ts';
import { entryOf } from '../../../src/tui/model/entry.ts';
import { needsText, tokenOf } from '../../../src/tui/model/rule-text.ts';
import { step } from '../../../src/tui/model/step.ts';
import { rowLine } from '../../../src/tui/model/table-lines.ts';
import { after, beginning, HOUR, iso, keys, NOON, read, snitch, typed } from '../samples.ts';

const test = suite('needs in the dashboard');

const HOST = snitch('db1');
const HELD = { by: { token: HOST.token, name: 'db1\u001b[2J' }, since: iso(NOON - HOUR), until: null };

const detailsOf = (held: typeof HELD | null, width: number) =>
  detailLines(
    entryOf(snitch('job', { status: 'failed', held })),
    { detail: null, error: null },
    { width, glyphs: UNICODE, now: NOON },
  ).map((line) => line.map(({ text }) => text).join(''));

test('the details name what holds the alert, also in forty columns, without what a terminal could obey', () => {
  const lines = detailsOf(HELD, 100);
  assert.ok(lines.some((line) => /^Held +by db1.* since 2026-03-14 11:00:00: nobody was told$/.test(line)));
  assert.not(lines.join('').includes('\u001b'));
  for (const line of detailsOf(HELD, 40)) assert.ok(line.length <= 40 || !/db1|told/.test(line), line);
  assert.not(detailsOf(null, 100).some((line) => line.startsWith('Held')));
});

test('a row says held in place of failed', () => {
  const look = {
    width: 40,
    columns: [{ id: 'status' as const, title: 'STATUS', width: 9 }],
    glyphs: UNICODE,
    now: NOON,
    detail: undefined,
    isSelected: false,
    isMarked: false,
  };
  const textOf = (held: typeof HELD | null) =>
    rowLine(entryOf(snitch('job', { status: 'failed', held })), look as never)
      .map(({ text }) => text)
      .join('');
  assert.match(textOf(HELD), / held/);
  assert.match(textOf(null), / failed/);
});

test('the form shows names, and takes names, tokens and tags', () => {
  const twin = snitch('twin');
  const present = [HOST, twin, { ...twin, token: 'another' }, snitch('a, b', { token: 'comma' })];
  const needs = [HOST.token, 'tag:net', twin.token, 'comma', 'gone'];
  const text = needsText(needs, present);
  assert.is(text, `db1, tag:net, ${twin.token}, comma, gone`);
  assert.equal(
    text.split(', ').map((need) => tokenOf(need, present)),
    needs,
  );
});

test('what is typed into the field is sent, and nothing where it was left alone', () => {
  const sent = (text: string) => {
    const form = after(beginning(), read([snitch('job', { needs: [] })]), ...keys('e'));
    const { overlay } = form;
    if (overlay?.kind !== 'form') throw new Error('there is no form');
    const index = overlay.fields.findIndex(({ attribute }) => attribute === 'needs');
    const tabs = Array.from({ length: index }, () => 'tab');
    const [effect] = step(after(form, ...keys(...tabs), ...typed(text)), {
      kind: 'key',
      key: 'enter',
    }).effects;
    return effect?.do === 'save' ? effect.input : null;
  };
  assert.equal(sent('db1, tag:net'), { needs: ['db1', 'tag:net'] });
  assert.is(sent(''), null);
});

test.run();
