/** The parts of the Grafana dashboard that the tests check. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../docs/pages.ts';

interface DataSource {
  type: string;
  uid: string;
}

export interface Target {
  refId: string;
  expr: string;
  instant: boolean;
  range: boolean;
  datasource: DataSource;
}

export interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  datasource?: DataSource;
  targets?: Target[];
  fieldConfig?: { defaults: { unit: string }; overrides: unknown[] };
  options?: object;
}

export interface Dashboard {
  uid: string;
  title: string;
  schemaVersion: number;
  time: { from: string; to: string };
  templating: { list: { name: string; type: string; datasource?: DataSource; query: unknown }[] };
  panels: Panel[];
}

export function readDashboard(): Dashboard {
  return JSON.parse(readFileSync(join(ROOT, 'packaging/grafana/snitch.json'), 'utf8')) as Dashboard;
}

export function targetsIn({ panels }: Dashboard): (Target & { title: string })[] {
  return panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ ...target, title })));
}

/** A query as Grafana sends it, with every server and no tag chosen. */
export function sentExpression(expression: string): string {
  const values = { instance: '.*', tag: '', __rate_interval: '1m', __range: '5m' };
  return Object.entries(values).reduce(
    (text, [name, value]) => text.replaceAll(`$${name}`, value),
    expression,
  );
}
