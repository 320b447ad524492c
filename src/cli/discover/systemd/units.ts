/** Finds the enabled timers of a host by reading its unit files, so that systemd does not have to run. */

import { existsSync, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { LARGEST_SETTINGS, readWholeText } from '../../../system/reading.ts';
import { type PassedOver, shown } from '../host/host.ts';

/** In the order of precedence that systemd uses. */
const DIRECTORIES = [
  'etc/systemd/system',
  'run/systemd/system',
  'usr/local/lib/systemd/system',
  'usr/lib/systemd/system',
  'lib/systemd/system',
];

export interface Setting {
  section: string;
  name: string;
  value: string;
}

export interface Timer {
  /** `logrotate.timer` */
  name: string;
  path: string;
  settings: readonly Setting[];
  /** The unit that it starts. */
  service: string;
  /** The unit file of the service; null if there is none. */
  servicePath: string | null;
  serviceSettings: readonly Setting[];
}

/** @param root the directory that stands for `/` */
export function readTimers(root: string): { timers: Timer[]; passedOver: PassedOver[] } {
  const timers: Timer[] = [];
  const passedOver: PassedOver[] = [];
  const enabled = enabledUnits(root);
  // An instance has no file of its own: only its link says that it is there.
  const instances = [...enabled].filter((name) => /.@.+\.timer$/.test(name));
  for (const name of [...new Set([...unitNames(root, '.timer'), ...instances])].sort()) {
    const path = pathOf(root, name) ?? pathOf(root, templateOf(name));
    if (path === null || isMasked(path)) continue;
    const skip = (reason: string, excused = false) =>
      void passedOver.push({ where: shown(root, path), what: name, reason, ...(excused ? { excused } : {}) });
    if (name.endsWith('@.timer')) skip('it is a template', true);
    else if (!enabled.has(name)) skip('it is not enabled', true);
    else {
      try {
        timers.push(readTimer(root, name, path));
      } catch (error) {
        skip(`it cannot be read: ${(error as NodeJS.ErrnoException).code}`);
      }
    }
  }
  return { timers, passedOver };
}

function readTimer(root: string, name: string, path: string): Timer {
  const settings = settingsOf(root, name).map((one) => ({ ...one, value: withSpecifiers(one.value, name) }));
  const service = lastValue(settings, 'Timer', 'Unit') ?? name.replace(/\.timer$/, '.service');
  const servicePath = pathOf(root, service) ?? pathOf(root, templateOf(service));
  return {
    name,
    path: shown(root, path),
    settings,
    service,
    servicePath: servicePath === null ? null : shown(root, servicePath),
    serviceSettings: servicePath === null ? [] : settingsOf(root, service),
  };
}

/** An instance (`backup@db.service`) is made from its template; any other unit is its own. */
function templateOf(unit: string): string {
  return unit.replace(/^([^@]+@).+(\.\w+)$/, '$1$2');
}

/** Replaces what stands in a unit for parts of its own name (`man systemd.unit`, "Specifiers"). */
function withSpecifiers(text: string, unit: string): string {
  const name = unit.replace(/\.\w+$/, '');
  const [, prefix = '', instance = ''] = /^([^@]*)@?(.*)$/s.exec(name) ?? [];
  const parts: Readonly<Record<string, string>> = { i: instance, p: prefix, n: unit, N: name, '%': '%' };
  return text.replace(/%([ipnN%])/g, (_, letter: string) => parts[letter] ?? '');
}

function pathOf(root: string, unit: string): string | null {
  const paths = DIRECTORIES.map((directory) => join(root, directory, unit));
  return paths.find((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined) ?? null;
}

function isMasked(path: string): boolean {
  const stats = lstatSync(path);
  return stats.isSymbolicLink() ? readlinkSync(path) === '/dev/null' : stats.size === 0;
}

function unitNames(root: string, ending: string): string[] {
  const names = DIRECTORIES.flatMap((directory) => listed(join(root, directory)));
  return [...new Set(names.filter((name) => name.endsWith(ending)))].sort();
}

/** The units that others want: `systemctl enable` makes links to them in these directories. */
function enabledUnits(root: string): Set<string> {
  const wanted = DIRECTORIES.flatMap((directory) =>
    listed(join(root, directory))
      .filter((name) => /\.(?:wants|requires|upholds)$/.test(name))
      .flatMap((name) => listed(join(root, directory, name))),
  );
  return new Set(wanted);
}

function listed(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch {
    return [];
  }
}

/** The settings of a unit and of its drop-ins, in the order in which they count. */
export function settingsOf(root: string, unit: string): Setting[] {
  const template = templateOf(unit);
  const path = pathOf(root, unit) ?? pathOf(root, template);
  const own = path === null ? [] : parseUnit(readUnit(root, path));
  const dropIns = new Map<string, string>();
  for (const of of new Set([template, unit])) {
    for (const directory of DIRECTORIES.toReversed()) {
      const folder = join(root, directory, `${of}.d`);
      for (const name of listed(folder)) if (name.endsWith('.conf')) dropIns.set(name, join(folder, name));
    }
  }
  const inOrder = [...dropIns.keys()].sort().map((name) => dropIns.get(name) ?? '');
  return [
    ...own,
    ...inOrder.filter(existsSync).flatMap((file) => parseUnit(readWholeText(file, LARGEST_SETTINGS))),
  ];
}

/** Links between unit files name paths on the host, which are below `root` here. */
function readUnit(root: string, path: string): string {
  const target = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : path;
  return readWholeText(
    target !== path && target.startsWith('/') ? join(root, target) : path,
    LARGEST_SETTINGS,
  );
}

export function parseUnit(text: string): Setting[] {
  const settings: Setting[] = [];
  let section = '';
  // A comment is never continued, and one within a continued line is left out of it.
  const lines = text.split(/\r?\n/).filter((line) => !/^\s*[#;]/.test(line));
  for (const line of lines.join('\n').replaceAll('\\\n', ' ').split('\n')) {
    const [, heading] = /^\s*\[([^\]]+)\]\s*$/.exec(line) ?? [];
    const [, name, value = ''] = /^\s*([A-Za-z][\w-]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (heading !== undefined) section = heading;
    else if (name !== undefined) settings.push({ section, name, value });
  }
  return settings;
}

/** The values of a setting that may be given several times. An empty value discards those before it. */
export function valuesOf(settings: readonly Setting[], section: string, name: string): string[] {
  const values = settings.filter((one) => one.section === section && one.name === name);
  const reset = values.findLastIndex(({ value }) => value === '');
  return values.slice(reset + 1).map(({ value }) => value);
}

export function lastValue(settings: readonly Setting[], section: string, name: string): string | undefined {
  return settings.findLast((one) => one.section === section && one.name === name)?.value || undefined;
}
