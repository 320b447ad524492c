/** The rules and the dashboard as files; alerts.test.ts runs them against a real daemon. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Metrics } from '../../src/http/metrics/metrics.ts';
import { SNITCH_FAMILIES } from '../../src/http/metrics/snitch-series.ts';
import { readPage } from '../docs/pages.ts';
import { unless, without } from '../skipped.ts';
import { readDashboard, sentExpression, targetsIn } from './dashboard.ts';
import { alertNames, RULES } from './prometheus.ts';

const test = suite('rules and dashboard');
const withPromtool = unless(without('promtool'), test);

const dashboard = readDashboard();

/** The metrics in an expression or a rule, without those that Prometheus makes itself. */
function metricsIn(text: string): string[] {
  return [...text.matchAll(/\b(?:snitch|process|nodejs)_\w+/g)].map(([name]) => name);
}

function promtool(...args: string[]): string {
  return execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' });
}

withPromtool('the rules are right', () => {
  assert.match(promtool('check', 'rules', '--lint-fatal', RULES), `${alertNames().length} rules found`);
});

withPromtool('they fire when they should, and not else', () => {
  assert.match(promtool('test', 'rules', join(import.meta.dirname, 'snitch.rules.test.yml')), 'SUCCESS');
});

test('the documents describe every alerting rule, and no other', () => {
  const { text } = readPage('docs/monitoring.md');
  const told = [...text.matchAll(/^\| `(Snitch\w+)` \|/gm)].map(([, name]) => name);
  assert.equal(told, alertNames());
});

test('rules and dashboard use only metrics that the daemon has', () => {
  const library = new Metrics().registry.getMetricsAsArray().map(({ name }) => name);
  const told = new Set(
    [...new Metrics().families(), ...SNITCH_FAMILIES].map(({ name }) => name).concat(library),
  );
  const expressions = targetsIn(dashboard).map(({ expr }) => expr);
  const rules = readFileSync(RULES, 'utf8').replace(/#.*/g, '');
  const asked = new Set(metricsIn([...expressions, rules].join('\n')));
  assert.ok(asked.size > 20);
  const unknown = [...asked].filter(
    (name) => !told.has(name) && !told.has(name.replace(/_(?:bucket|sum|count)$/, '')),
  );
  assert.equal(unknown, []);
  // Nothing new should rely on a deprecated metric.
  assert.not.ok(asked.has('snitch_value') || asked.has('snitch_store_syncs'));
});

test('the dashboard can be imported: the data source is chosen then, and panels have their places', () => {
  assert.match(dashboard.uid, /^[\w-]{1,40}$/);
  assert.ok(dashboard.title !== '' && Number.isInteger(dashboard.schemaVersion));
  assert.not.ok(
    'id' in dashboard || '__inputs' in dashboard,
    'it names nothing of the Grafana that it was made in',
  );
  assert.is(dashboard.templating.list[0]?.type, 'datasource');
  const ids = dashboard.panels.map(({ id }) => id);
  assert.is(new Set(ids).size, ids.length);
  const taken = new Set<string>();
  for (const { title, type, gridPos, targets = [], datasource } of dashboard.panels) {
    const { x, y, w, h } = gridPos;
    assert.ok(title !== '' && x >= 0 && x + w <= 24 && w > 0 && h > 0, title);
    for (let row = y; row < y + h; row += 1) {
      for (let column = x; column < x + w; column += 1) {
        assert.not.ok(taken.has(`${row}/${column}`), `${title} covers another panel`);
        taken.add(`${row}/${column}`);
      }
    }
    assert.is(targets.length === 0, type === 'row', title);
    assert.is(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
    for (const one of [datasource, ...targets.map((target) => target.datasource)]) {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: that is how Grafana writes it
      if (type !== 'row') assert.equal(one, { type: 'prometheus', uid: '${datasource}' }, title);
    }
    for (const { instant, range } of targets) assert.is(instant, !range, title);
  }
});

test('every variable that is used is there', () => {
  const names = dashboard.templating.list.map(({ name }) => name);
  assert.equal(names, ['datasource', 'instance', 'tag']);
  for (const { expr, title } of targetsIn(dashboard)) assert.not.match(sentExpression(expr), '$', title);
});

test.run();
