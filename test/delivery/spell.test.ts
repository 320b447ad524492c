/** How long sends are begun in one go. */
import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Spell } from '../../src/delivery/outbox/spell.ts';

const test = suite('the spell in which sends are begun');

test('for less than a millisecond; then everybody who was turned away goes on once, after other work', async () => {
  let now = 5;
  const went: string[] = [];
  const spell = new Spell(() => now);
  assert.ok(spell.hasTime(() => went.push('in time')));
  now = 5.999;
  assert.ok(spell.hasTime(() => went.push('just in time')));
  now = 6;
  const goOn = () => went.push('late');
  assert.not(spell.hasTime(goOn));
  assert.not(spell.hasTime(goOn));
  assert.not(spell.hasTime(() => went.push('another')));
  assert.equal(went, []);
  await turn();
  assert.equal(went, ['late', 'another']);
  assert.ok(
    spell.hasTime(() => went.push('in the next')),
    'the next one has its own time',
  );
  await turn();
  assert.equal(went, ['late', 'another']);
});

test.run();
