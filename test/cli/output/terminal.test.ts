import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import { displayWidth } from '../../../src/text/width.ts';
import { onTerminal, plain, type TerminalOptions } from '../on-terminal.ts';
import { type Commands, withCase } from '../with-daemon.ts';

const terminal = suite('on a terminal');
let on: Commands;

terminal.before(async () => {
  on = await withCase();
  for (const name of ['plain', 'failing']) await on.make(name, { tags: ['calm'] });
  await on.run('check-in', 'plain');
  await on.run('check-in', 'failing', '-s', '1');
});
terminal.after(() => on.end());

const show = (args: string[], options: TerminalOptions = {}) =>
  onTerminal(args, { ...options, env: { ...on.env, ...options.env } });

terminal('status has a word, a symbol and a colour; times are relative', async () => {
  const { screen, code } = await show(['list', '-t', 'calm']);
  assert.is(code, 0);
  assert.match(screen, '\u001b[32m✓ healthy');
  assert.match(screen, '\u001b[33m▲ errored');
  assert.match(plain(screen), /\nplain +✓ healthy +in 1d( \d+h)? +(just now|\d+m?s( \d+m?s)? ago) /);
});

terminal('the list shows what it is sorted by, to a person alone', async () => {
  const heading = async (options: TerminalOptions = {}) =>
    plain((await show(['list', '-t', 'calm'], options)).screen).split('\n')[0] ?? '';
  assert.match(await heading(), /^NAME +STATUS +DUE ↑/);
  assert.match(await heading({ env: { LC_ALL: 'C' } }), /^NAME +STATUS +DUE \^/);
  assert.match((await on.run('list')).stdout, /^NAME +STATUS/);
});

terminal('NO_COLOR and TERM=dumb mean no colour, and the words stay', async () => {
  for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
    const { screen } = await show(['list', '-t', 'calm'], { env });
    assert.not.match(screen, '\u001b');
    assert.match(screen, '✓ healthy');
  }
});

terminal('without UTF-8 every sign is ASCII, and the words stay', async () => {
  for (const env of [{ LC_ALL: 'C' }, { LANG: '' }]) {
    for (const args of [
      ['list'],
      ['show', 'failing'],
      ['history', 'plain'],
      ['deliveries'],
      ['doctor'],
      ['alerts'],
    ]) {
      const { screen } = await show([...args], { env, columns: 40 });
      assert.is(Buffer.byteLength(screen), screen.length, `${args}: ${screen}`);
    }
    assert.match((await show(['list', '-t', 'calm'], { env })).screen, '+ healthy');
  }
});

terminal('without a terminal there is neither colour nor symbol', async () => {
  const { stdout } = await on.run('list', '-t', 'calm');
  assert.not.match(stdout, '\u001b');
  assert.not.match(stdout, '✓');
});

/** What names can contain when they come through the API. */
const HOSTILE = [
  'up\u202eside-down',
  'isolate\u2066d\u2069',
  'zero\u200bwidth\ufeff',
  'line\u2028separator\u2029',
  'tag\u{e0041}s',
  'family 👨‍👩‍👧 and flag 🇩🇪 and 👍🏽',
  '日本語のバックアップ',
  'e\u0301le\u0300ve',
  '한국어 백업',
  'name  healthy  2026-01-01',
  `${'long '.repeat(50)}end`,
];

terminal('no name can move the cursor, forge a row or break a column', async () => {
  for (const name of HOSTILE) {
    const body = { name, interval: 'daily', tags: ['hostile', `${name.slice(0, 40)}-tag`], notes: 'x\n\ty' };
    const made = await on.daemon.call('POST', '/v1/snitches', body);
    assert.is(made.status, 200, name);
  }
  for (const columns of [40, 60, 100, 250]) {
    const { screen } = await show(['list', '-t', 'hostile'], { columns });
    const lines = plain(screen).split('\n').slice(0, -1);
    assert.is(lines.length, HOSTILE.length + 1, 'one row for each');
    for (const line of lines) {
      assert.not.match(line, /[\p{Cc}\p{Cf}\u2028\u2029]/u);
      assert.ok(displayWidth(line) <= columns, line);
      if (columns >= 60)
        assert.is(columnOf(line, /○ pending|STATUS/), columnOf(lines[0] as string, /STATUS/), line);
    }
  }
});

function columnOf(line: string, what: RegExp): number {
  return displayWidth(line.slice(0, line.search(what)));
}

terminal('show, history, alerts, -o name and JSON are as safe', async () => {
  const [snitch] = await on.json<WireSnitch[]>('list', '-t', 'hostile');
  const token = snitch?.token ?? '';
  const message = 'm\u001b[31m\u202e\nforged  healthy';
  await fetch(`${on.daemon.url}/c/${token}?s=1&m=${encodeURIComponent(message)}`, { method: 'POST' });
  const notes = { notes: 'first\n\tsecond\u202e' };
  await on.daemon.call('PATCH', `/v1/snitches/${token}`, notes);
  for (const args of [
    ['show', token],
    ['history', token],
    ['history', token, '--with-output'],
    ['alerts'],
    ['explain', token],
    ['list', '-o', 'name'],
    ['list', '-o', 'wide'],
    ['list', '--json'],
    ['history', token, '--json'],
  ]) {
    const { screen, code } = await show(args);
    assert.is(code, 0, args.join(' '));
    assert.not.match(plain(screen).replaceAll('\n', ''), /[\p{Cc}\p{Cf}\u2028\u2029]/u, args.join(' '));
  }
  assert.is((await show(['history', token])).screen.trimEnd().split('\n').length, 2, 'no forged row');
  assert.is((await on.json<{ message: string }[]>('history', token))[0]?.message, message);
});

terminal('delete asks, and takes only yes for yes', async () => {
  await on.make('asked');
  const no = await show(['delete', 'asked'], { input: 'n\n' });
  assert.is(no.code, 1);
  assert.match(no.screen, 'asked (');
  assert.match(no.screen, 'nothing was deleted');
  const yes = await show(['delete', 'asked'], { input: 'y\n' });
  assert.is(yes.code, 0);
  assert.is((await on.run('show', 'asked')).code, 3);
});

terminal('what one may do next is said on a terminal only', async () => {
  const { screen } = await show(['create', 'hinted', '-i', 'daily']);
  assert.match(screen, /the job checks in with: curl .*\/c\/[a-z2-7]{26}/);
  assert.is((await on.run('create', 'unhinted', '-i', 'daily')).stderr, '');
});

terminal('list --watch shows what changes until it is ended', async () => {
  let pausing: Promise<unknown> | null = null;
  const { screen } = await show(['list', '-t', 'calm', '--watch', '100ms'], {
    seen: (sofar) => {
      if (sofar.includes('✓ healthy')) pausing ??= on.run('pause', 'plain', '--until', 'unpaused');
      return sofar.includes('‖ paused');
    },
  });
  await pausing;
  assert.match(screen, '\u001b[H\u001b[2J');
});

terminal('list marks what is acknowledged and silenced, at 40 columns too', async () => {
  await on.make('quiet', { tags: ['seen'] });
  await on.run('check-in', 'quiet', '-s', '1');
  await on.run('acknowledge', 'quiet');
  await on.run('silence', 'quiet', '30m');
  const at = async (columns: number) => plain((await show(['list', '-t', 'seen'], { columns })).screen);
  assert.match(await at(80), /quiet +. errored \(ack, silenced\)/);
  const narrow = await at(40);
  assert.match(narrow, /quiet +. errored \(.* in \d/, 'when it is due stays');
  for (const line of narrow.trimEnd().split('\n')) assert.ok(displayWidth(line) <= 40, line);
});

terminal('sentences break between words, and addresses stay whole', async () => {
  for (const args of [
    ['explain', 'failing'],
    ['show', 'failing'],
  ]) {
    const { screen } = await show(args, { columns: 40 });
    const long = plain(screen)
      .trimEnd()
      .split(/\r?\n/)
      .filter((line) => displayWidth(line) > 40 && !line.includes('`'));
    for (const line of long) assert.match(line, /http:|[a-z0-9]{26}/, line);
  }
});

terminal('help fits a screen of 80 columns and 24 lines, and starts with examples', async () => {
  const { screen, code } = await show(['help']);
  assert.is(code, 0);
  const lines = screen.trimEnd().split('\n');
  assert.ok(lines.length <= 24, String(lines.length));
  for (const line of lines) assert.ok(line.length <= 80, line);
  assert.is(lines[0], 'Examples:');
});

terminal.run();
