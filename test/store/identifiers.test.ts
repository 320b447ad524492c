/** Tokens, ids and keys: random, and no character of a key likelier than another. */
import { execFileSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  hashApiKey,
  newAlertId,
  newApiKey,
  newId,
  newToken,
  newWebhookSecret,
} from '../../src/store/identifiers.ts';

const IDENTIFIERS = import.meta.resolve('../../src/store/identifiers.ts');

const test = suite('identifiers');

test('each has its form, and none comes twice', () => {
  const forms: [() => string, RegExp][] = [
    [newToken, /^[a-z2-7]{26}$/],
    [() => newId('hook'), /^hook_[a-z2-7]{16}$/],
    [newApiKey, /^snk_[0-9A-Za-z]{40}$/],
    [newWebhookSecret, /^whsec_[A-Za-z0-9+/]{32}$/],
  ];
  for (const [make, form] of forms) {
    const made = Array.from({ length: 500 }, make);
    for (const one of made) assert.match(one, form);
    assert.is(new Set(made).size, made.length);
  }
  assert.is(hashApiKey('snk_a').toString('hex').length, 64);
  assert.not.equal(hashApiKey('snk_a'), hashApiKey('snk_b'));
});

test('ids of alerts are in the order in which they were made, however many at once', () => {
  const made = Array.from({ length: 5_000 }, newAlertId);
  for (const one of made) assert.match(one, /^alert_[a-z2-7]{16}$/);
  assert.equal(made.toSorted(), made);
  assert.is(new Set(made).size, made.length);
});

test('ids of alerts that a later process makes come after those of an earlier one', () => {
  const script = `import { newAlertId } from ${JSON.stringify(IDENTIFIERS)}; console.log(newAlertId(), newAlertId());`;
  const make = () =>
    execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  const made = [make(), make()].flatMap((line) => line.trim().split(' '));
  assert.is(made.length, 4);
  assert.equal(made.toSorted(), made);
});

test('every character is as likely as every other', () => {
  const countsOf = (make: () => string, prefix: number) => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 5_000; index += 1) {
      for (const one of make().slice(prefix)) counts.set(one, (counts.get(one) ?? 0) + 1);
    }
    return [...counts.values()];
  };
  for (const [counts, characters] of [
    [countsOf(newApiKey, 4), 62],
    [countsOf(newToken, 0), 32],
  ] as const) {
    assert.is(counts.length, characters);
    const mean = counts.reduce((sum, count) => sum + count, 0) / characters;
    // By chance one of them is an eighth off once in many millions of runs.
    assert.ok(
      counts.every((count) => Math.abs(count - mean) < mean / 8),
      String(counts),
    );
  }
});

test.run();
