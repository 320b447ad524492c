/** Circles in what the snitches of a file need. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { circleIn } from '../../../src/cli/file/file-circle.ts';
import type { Met } from '../../../src/cli/file/file-needs.ts';
import { cases } from '../../cases.ts';

const test = suite('circles in a file');

interface Given {
  tags: readonly string[];
  needs: readonly string[];
}

/** New snitches whose tokens are their numbers in the list. */
function found(given: readonly Given[]): ReturnType<typeof circleIn> {
  const met = given.map(({ tags, needs }, index): Met => {
    const [name, token] = [`name ${index}`, `${index}`];
    return { position: index, needs, tags, name, token, is: { name, token, beside: null } };
  });
  return circleIn([], met, new Map(met.map((one, index) => [one, given[index]?.needs ?? []])));
}

/** The first snitch that is needed by itself, looked for one step at a time. */
function firstInCircle(given: readonly Given[]): number | null {
  const neededBy = ({ needs }: Given) =>
    needs.flatMap((need) =>
      need.startsWith('tag:')
        ? given.flatMap(({ tags }, index) => (tags.includes(need.slice(4)) ? [index] : []))
        : [Number(need)],
    );
  for (const [start, one] of given.entries()) {
    const reached = new Set(neededBy(one));
    for (const index of reached) for (const next of neededBy(given[index] as Given)) reached.add(next);
    if (reached.has(start)) return start;
  }
  return null;
}

test('the first snitch in a circle is found, through tags and tokens', () => {
  const size = 7;
  const snitch = fc.record({
    tags: fc.subarray(['a', 'b', 'c']),
    needs: fc.subarray(['tag:a', 'tag:b', ...Array.from({ length: size }, (_, index) => `${index}`)], {
      maxLength: 2,
    }),
  });
  fc.assert(
    fc.property(fc.array(snitch, { minLength: size, maxLength: size }), (given) => {
      assert.is(found(given)?.position ?? null, firstInCircle(given));
    }),
    { numRuns: cases(2_000) },
  );
});

test('ten thousand snitches that need each other by tags are looked through in a moment', () => {
  const layers = Array.from({ length: 10_000 }, (_, index) => ({
    tags: [`t${index % 7}`],
    needs: index % 7 === 0 ? [] : [`tag:t${(index % 7) - 1}`],
  }));
  assert.is(found(layers), null);
  const last = { tags: ['t0'], needs: ['9999'] };
  assert.match(
    found([...layers.slice(0, 9_999), { tags: [], needs: ['tag:t3'] }, last])?.message ?? '',
    'circle',
  );
});

test.run();
