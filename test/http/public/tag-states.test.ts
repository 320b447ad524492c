/** The states of the snitches with a tag are remembered until changes may have been missed. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TagStates } from '../../../src/http/public/badges/tag-states.ts';
import type { Change } from '../../../src/store/change.ts';
import { checkIn, type Fixture, hooks, newSnitch } from '../fixture.ts';

const test = suite<Fixture>('the states of tags');
test.before.each(hooks.start);
test.after.each(hooks.close);

test('a tag is read again when changes of other nodes may have been missed', async (context) => {
  const { store, clock, acme } = context;
  const { token } = await newSnitch(acme, { tags: ['web'] });
  let now = 1_000_000;
  const listeners: ((change: Change) => void)[] = [];
  // This node hears only what the test sends it: the check-in below happens on another node.
  const deaf = { ...store, onChange: (listener: (change: Change) => void) => void listeners.push(listener) };
  const states = new TagStates(
    deaf,
    () => clock.now,
    () => now,
  );
  const ofWeb = () => states.of({ caseId: acme.id, tag: 'web', timezone: 'UTC' });
  const before = await ofWeb();
  await checkIn(context, token, '?s=1');
  now += 999;
  assert.is(await ofWeb(), before, 'nothing was heard of it');
  for (const listener of listeners) listener({ kind: 'reset' });
  assert.is.not(await ofWeb(), before);
});

test.run();
