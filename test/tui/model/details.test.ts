/** What the details say of a run that goes on, and of why a snitch failed. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { WireSnitch } from '../../../src/api/wire.ts';
import type { WireExplanation } from '../../../src/api/wire-explanation.ts';
import { detailLines } from '../../../src/tui/model/detail-lines.ts';
import { entryOf } from '../../../src/tui/model/entry.ts';
import { UNICODE } from '../../../src/tui/model/glyphs.ts';
import { HOUR, iso, MINUTE, NOON, snitch } from '../samples.ts';

const test = suite('the details of a snitch');

function textOf(shown: WireSnitch, runs?: WireExplanation['runs'], width = 100): string[] {
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
    { detail: { explanation, checkIns: [], alerts: [] }, error: null },
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

test.run();
