/** What snitches need of each other, by `export`, `diff` and `apply`: by their names. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const test = suite<{ on: Commands; write(text: string): string }>('needs in a file');

test.before.each(async (context) => {
  context.on = await withCase();
  const file = join(context.on.daemon.dataDir, 'case.yaml');
  context.write = (text) => {
    writeFileSync(file, text);
    return file;
  };
});
test.after.each(({ on }) => on.end());

/** The names that each snitch needs, by its name. */
async function needsByName(on: Commands): Promise<Record<string, string[]>> {
  const all = await on.listed();
  const nameOf = (need: string) => all.find(({ token }) => token === need)?.name ?? need;
  return Object.fromEntries(all.map(({ name, needs = [] }) => [name, needs.map(nameOf)]));
}

const FILE = `owner: web
snitches:
  - {name: app, interval: daily, needs: [web1, tag:net]}
  - {name: web1, interval: hourly, needs: web-switch}
  - {name: web-switch, interval: hourly, tags: [net]}
`;

test('new snitches may need one another, whichever comes first', async ({ on, write }) => {
  const applied = await on.run('apply', '-f', write(FILE), '--yes');
  assert.is(applied.code, 0, applied.stderr);
  const wanted = { app: ['web1', 'tag:net'], web1: ['web-switch'], 'web-switch': [] };
  assert.equal(await needsByName(on), wanted);
  const again = await on.run('diff', '-f', write(FILE), '--exit-code');
  assert.equal([again.code, again.stdout], [0, ''], again.stderr);
});

test('export writes names, and an apply of it elsewhere brings them back', async ({ on, write }) => {
  await on.run('apply', '-f', write(FILE), '--yes');
  const before = await needsByName(on);
  const { stdout } = await on.run('export', '--no-tokens');
  assert.match(stdout, /needs:\n +- web1\n +- tag:net\n/);
  for (const { token } of await on.listed()) await on.run('delete', token, '--force');
  const applied = await on.run('apply', '-f', write(stdout), '--yes');
  assert.is(applied.code, 0, applied.stderr);
  assert.equal(await needsByName(on), before);
});

test('what the file does not say stays, an empty list takes it away, and a diff shows it', async ({
  on,
  write,
}) => {
  await on.run('apply', '-f', write(FILE), '--yes');
  await on.run('apply', '-f', write('owner: web\nsnitches:\n  - {name: web1, interval: hourly}\n'), '--yes');
  assert.equal((await needsByName(on)).web1, ['web-switch']);
  const file = write('owner: web\nsnitches:\n  - {name: web1, interval: hourly, needs: []}\n');
  assert.match((await on.run('diff', '-f', file)).stdout, /needs: \["web-switch"\] -> \[\]/);
  await on.run('apply', '-f', file, '--yes');
  assert.equal((await needsByName(on)).web1, []);
});

test('a name that nobody has, or two, is refused with its line before anything is changed', async ({
  on,
  write,
}) => {
  const file = write('snitches:\n  - name: a\n    interval: daily\n    needs: [wbe1]\n');
  const refused = await on.run('apply', '-f', file, '--yes');
  assert.is(refused.code === 0, false);
  assert.match(refused.stderr, /case\.yaml:4: a: needs: no snitch has the token or the name "wbe1"/);
  assert.equal(await on.listed(), []);
  for (const form of ['{a: 1}', '[1]']) {
    const bad = await on.run(
      'apply',
      '-f',
      write(`snitches:\n  - {name: a, interval: daily, needs: ${form}}\n`),
      '--yes',
    );
    assert.match(bad.stderr, /needs: must be a list of names, tokens or tag:<tag>/);
  }
});

test('needs that turn round are applied at once, with the tags that change beside them', async ({
  on,
  write,
}) => {
  const owned = (entries: string) => write(`owner: o\nsnitches:\n${entries}`);
  const before = owned(`  - {name: b, interval: daily}
  - {name: c, interval: daily, needs: [tag:net]}
  - {name: a, interval: daily, needs: [b]}
  - {name: web, interval: daily, needs: [c]}
`);
  assert.is((await on.run('apply', '-f', before, '--yes')).code, 0);
  const turned = owned(`  - {name: b, interval: daily, needs: [a]}
  - {name: c, interval: daily, needs: [tag:net]}
  - {name: a, interval: daily, needs: [new]}
  - {name: new, interval: daily}
  - {name: web, interval: daily, tags: [net], needs: []}
`);
  const applied = await on.run('apply', '-f', turned, '--yes');
  assert.is(applied.code, 0, applied.stderr);
  assert.equal(await needsByName(on), { a: ['new'], b: ['a'], c: ['tag:net'], new: [], web: [] });
  const back = owned(`  - {name: a, interval: daily, needs: [b]}
  - {name: b, interval: daily, needs: []}
`);
  assert.is((await on.run('apply', '-f', back, '--yes')).code, 0);
  assert.is((await needsByName(on)).a?.join(), 'b');
});

test('a circle in a file is refused with its line before anything is changed', async ({ on, write }) => {
  const refused = async (entries: string, pattern: RegExp) => {
    const file = write(`owner: o\nsnitches:\n${entries}`);
    for (const command of [['diff'], ['apply', '--yes']]) {
      const { code, stderr } = await on.run(...command, '-f', file);
      assert.is(code, 1);
      assert.match(stderr, pattern);
    }
    assert.equal(await on.json<WireSnitch[]>('list', '--tag', 'new'), []);
  };
  await refused(
    `  - {name: a, interval: daily, tags: [new], needs: [b]}
  - {name: b, interval: daily, needs: [a]}
`,
    /case\.yaml:3: a: needs: would go in a circle: a needs b, which needs a/,
  );
  await on.run('create', 'db', '--interval', 'daily', '--needs', 'tag:new');
  await refused(
    `  - {name: c, interval: daily, tags: [new], needs: [db]}
`,
    /c: needs: would go in a circle: c needs db, which needs c \(tag:new\)/,
  );
});

test.run();
