/** What the dashboard makes of silences. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { State } from '../../../src/tui/model/state.ts';
import { step } from '../../../src/tui/model/step.ts';
import { activeSilences, ownSilences, silenceOver } from '../../../src/tui/silences/silenced.ts';
import { after, beginning, FLEET, HOUR, iso, keys, NOON, read, silence, typed } from '../samples.ts';

const test = suite('silences in the dashboard');

const full = after(beginning(), read(FLEET));
const told = (silences: ReturnType<typeof silence>[]) => after(full, { kind: 'silences', silences });
const press = (state: State, key: string) => step(state, { kind: 'key', key });
const NIGHTLY = { token: 'token-nightly-backup', tags: ['db', 'prod'] };

test('a silence holds between its times, also one that was to come when it was read', () => {
  const coming = { from: iso(NOON + HOUR), to: iso(NOON + 2 * HOUR) };
  const one = silence({ tags: ['db'], next: coming });
  const two = silence({ id: 'sil_b', all: true, current: null, next: coming });
  const at = (now: number) => activeSilences([one, two], now).map(({ id }) => id);
  assert.equal([at(NOON), at(NOON + HOUR), at(NOON + 2 * HOUR)], [['sil_a'], ['sil_a', 'sil_b'], []]);
  assert.is(silenceOver([one, two], NIGHTLY, NOON)?.until, iso(NOON + HOUR));
  assert.is(silenceOver([one, two], { token: 'x', tags: [] }, NOON), null);
  assert.is(silenceOver([one, two], { token: 'x', tags: [] }, NOON + HOUR)?.id, 'sil_b');
});

test('z asks until when, and makes one silence for all that are chosen', () => {
  const asked = after(full, ...keys('*', 'z'));
  assert.is(asked.overlay?.kind, 'silence');
  const { effects } = press(after(asked, ...keys('down')), 'enter');
  assert.is(effects.length, 1);
  const [effect] = effects;
  assert.ok(effect?.do === 'silence');
  assert.equal([effect.tokens.length, effect.until], [FLEET.length, iso(full.now + HOUR)]);
  const written = press(after(full, ...keys('z'), ...typed('90m')), 'enter').effects[0];
  assert.ok(written?.do === 'silence' && written.until === iso(full.now + 1.5 * HOUR));
});

test('a silence needs an end, and a read-only dashboard makes none', () => {
  for (const text of ['unpaused', 'healthy', '30']) {
    const wrong = after(full, ...keys('z'), ...typed(text), ...keys('enter'));
    assert.match(
      (wrong.overlay as { problem: string }).problem,
      new RegExp(`^"${text}" is not understood: write a length of time`),
      'nothing is offered that only a pause has',
    );
  }
  const readonly = after({ ...full, readonly: true }, ...keys('z'));
  assert.is(readonly.overlay, null);
});

test('Z ends what was made for the chosen snitch alone, and says how others end', () => {
  const own = silence({ tokens: ['token-nightly-backup'] });
  const ofTag = silence({ id: 'sil_b', tags: ['db', 'prod', 'web'] });
  const recurring = silence({
    id: 'sil_c',
    tokens: own.tokens,
    schedule: { cron: '0 3 * * *' },
    duration: 60,
  });
  assert.equal(ownSilences([own, ofTag, recurring], ['token-nightly-backup', 'x']), ['sil_a']);
  const selected = after(told([own, ofTag]), ...keys('g'));
  assert.equal(press(selected, 'Z').effects, [{ do: 'end-silences', ids: ['sil_a'] }]);
  assert.match(press(after(told([ofTag]), ...keys('g')), 'Z').state.message?.text ?? '', /--end sil_b/);
  assert.match(press(after(full, ...keys('g')), 'Z').state.message?.text ?? '', /nothing silences it/);
});

test('rows and details are read again when silences change, and only then', () => {
  const first = step(full, { kind: 'silences', silences: [silence({ all: true })] });
  assert.equal(first.effects, []);
  const open = after(first.state, ...keys('enter'));
  assert.is(step(open, { kind: 'silences', silences: [silence({ all: true })] }).state, open);
  assert.is(step(open, { kind: 'silences', silences: [] }).effects[0]?.do, 'load-detail');
});

test.run();
