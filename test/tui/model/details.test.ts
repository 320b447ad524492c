/** What the details say of a run that goes on, and of why a snitch failed. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireLogEntry } from '../../../src/api/log.ts';
import type { WireSnitch } from '../../../src/api/wire.ts';
import type { WireExplanation } from '../../../src/api/wire-explanation.ts';
import { UNICODE } from '../../../src/tui/drawing/glyphs.ts';
import { detailLines } from '../../../src/tui/model/detail-lines.ts';
import { entryOf } from '../../../src/tui/model/entry.ts';
import { HOUR, iso, MINUTE, NOON, snitch } from '../samples.ts';

const test = suite('the details of a snitch');

function textOf(
  shown: WireSnitch,
  runs?: WireExplanation['runs'],
  width = 100,
  log?: readonly WireLogEntry[],
): string[] {
  const explanation: WireExplanation = {
    status: shown.status,
    timezone: 'UTC',
    period: { start: iso(NOON), end: iso(NOON + HOUR) },
    deadline: null,
    next_alert: null,
    ...(runs ? { runs } : {}),
    reasons: [],
    notify: { emails: [], webhooks: [] },
  };
  const lines = detailLines(
    entryOf(shown),
    { detail: { explanation, checkIns: [], alerts: [], ...(log ? { log } : {}) }, error: null },
    { width, glyphs: UNICODE, now: NOON },
  );
  return lines.map((line) => line.map(({ text }) => text).join(''));
}

test('since when a run goes on, how long it usually takes, and when it has to end', () => {
  const open = [{ started_at: iso(NOON - 10 * MINUTE), overruns_at: iso(NOON + HOUR) }];
  const lines = textOf(snitch('job', { max_runtime: 4_200 }), { open, usual_ms: 12 * MINUTE });
  assert.ok(
    lines.includes('Running       since 2026-03-14 11:50, usually 12 min, overruns at 2026-03-14 13:00'),
    lines.join('\n'),
  );
  assert.ok(lines.includes('Max runtime   1h10m'));
});

test('why a snitch failed, without what a terminal could obey; nothing where an old server says nothing', () => {
  const lines = textOf(snitch('job', { status: 'failed', reason: 'exit\u001b[2J status 3' }));
  assert.ok(lines.some((line) => /^Why +exit.* status 3$/.test(line) && !line.includes('\u001b')));
  assert.not(textOf(snitch('job')).some((line) => /^(Why|Running|Max runtime) /.test(line)));
});

test('forty columns are enough', () => {
  const open = [{ started_at: iso(NOON - 10 * MINUTE), overruns_at: iso(NOON + HOUR) }];
  for (const line of textOf(snitch('job'), { open, usual_ms: 12 * MINUTE }, 40)) {
    if (/^(Running|Why|Max)/.test(line)) assert.ok(line.length <= 40, line);
  }
});

const by = (name: string, action: string, details: WireLogEntry['details'] = {}): WireLogEntry => ({
  id: '1',
  at: iso(NOON),
  by: { key: 'key_1', name },
  action,
  subject: { id: 'job', name: 'job' },
  details,
});

test('who changed it last, and until when it is paused, in the zone of the case', () => {
  const log = [
    by('ops-key', 'snitch.paused', { until: iso(NOON + 2 * HOUR) }),
    ...Array.from({ length: 9 }, () =>
      by('first\u001b[2J start', 'snitch.changed', { changes: { notes: {} } }),
    ),
  ];
  const lines = textOf(snitch('job'), undefined, 100, log);
  const at = lines.indexOf('Last changes');
  assert.is(lines[at + 1], '2026-03-14 12:00:00  ops-key paused it until 2026-03-14 14:00');
  assert.match(lines[at + 2] ?? '', /^2026-03-14 12:00:00 {2}first.*start changed it: notes$/);
  assert.is(lines.slice(at + 1).filter((line) => /(paused|changed) it/.test(line)).length, 5);
  assert.not.match(lines.join('\n'), '\u001b');
  const narrow = textOf(snitch('job'), undefined, 40, log);
  const section = narrow.slice(narrow.indexOf('Last changes'), narrow.indexOf('Timeline'));
  assert.ok(section.length > 5);
  for (const line of section) assert.ok(line.length <= 40, line);
  assert.not.ok(textOf(snitch('job')).includes('Last changes'));
  assert.not.ok(textOf(snitch('job'), undefined, 100, []).includes('Last changes'));
});

test.run();
