/** Reads the text format of Prometheus as strictly as it is written down: each metric once, in one piece. */
import * as assert from 'uvu/assert';

export interface Series {
  labels: Record<string, string>;
  value: number;
}

export interface Metric {
  type: string;
  help: string;
  series: Series[];
}

/** The metrics by name; what belongs to a histogram is under the name of the histogram. */
export type Exposition = Map<string, Metric>;

/** The library writes `Nan`, which is read as well. */
const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (-?[\d.]+(?:e[+-]?\d+)?|[+-]Inf|Na[Nn])$/s;
const LABEL = /([a-zA-Z_]\w*)="((?:\\[\\"n]|[^\\"\n])*)"(?:,|$)/gy;
const UNESCAPED: Record<string, string> = { '\\\\': '\\', '\\"': '"', '\\n': '\n' };

/** Fails on whatever is no such text. */
export function readExposition(text: string): Exposition {
  assert.match(text, /\n$/);
  const found: Exposition = new Map();
  const seen = new Set<string>();
  let open: [name: string, metric: Metric] | null = null;
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    const [, helped, help] = /^# HELP (\S+) (.+)$/.exec(line) ?? [];
    const [, typed, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (helped !== undefined) {
      assert.not.ok(found.has(helped), `${helped} comes twice`);
      open = [helped, { type: '', help: help ?? '', series: [] }];
      found.set(...open);
    } else if (typed !== undefined) {
      assert.is(open?.[0], typed, 'the type comes behind the help');
      if (open) open[1].type = type ?? '';
    } else {
      assert.not.ok(seen.has(line.slice(0, line.lastIndexOf(' '))), `twice: ${line}`);
      seen.add(line.slice(0, line.lastIndexOf(' ')));
      const [name, series] = readLine(line);
      assert.ok(open && [open[0], ...partsOf(open)].includes(name), `out of its place: ${line}`);
      open?.[1].series.push(series);
    }
  }
  for (const [name, { type }] of found) assert.match(type, /^(?:gauge|counter|histogram)$/, name);
  return found;
}

function partsOf([name, { type }]: [string, Metric]): string[] {
  return type === 'histogram' ? ['_bucket', '_sum', '_count'].map((part) => `${name}${part}`) : [];
}

function readLine(line: string): [name: string, series: Series] {
  const [whole, name = '', labels = '', value] = LINE.exec(line) ?? [];
  assert.ok(whole, `no line of a series: ${JSON.stringify(line)}`);
  const read: Record<string, string> = {};
  let end = 0;
  for (const [pair, label = '', escaped = ''] of labels.matchAll(LABEL)) {
    assert.not.ok(Object.hasOwn(read, label), line);
    read[label] = escaped.replace(/\\[\\"n]/g, (one) => UNESCAPED[one] ?? one);
    end += pair.length;
  }
  assert.is(end, labels.length, `its labels cannot be read: ${line}`);
  return [name, { labels: read, value: Number(value?.replace('Inf', 'Infinity')) }];
}

/** The series of a metric that have all of these labels. */
export function seriesOf(
  exposition: Exposition,
  name: string,
  labels: Record<string, string> = {},
): Series[] {
  const { series = [] } = exposition.get(name) ?? {};
  return series.filter((one) =>
    Object.entries(labels).every(([label, value]) => one.labels[label] === value),
  );
}

/** The value of the only such series; null where there is none. */
export function only(
  exposition: Exposition,
  name: string,
  labels: Record<string, string> = {},
): number | null {
  const found = seriesOf(exposition, name, labels);
  assert.ok(found.length <= 1, `${name} ${JSON.stringify(labels)} has ${found.length} series`);
  return found[0]?.value ?? null;
}
