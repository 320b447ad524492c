/** Shows what was discovered, in lines for people and as data for programs. */
import { instantsAfter, readOrNull } from '../../core/schedule/schedule.ts';
import { durationInWords, SECOND } from '../../text/durations.ts';
import { printable } from '../../text/printable.ts';
import { wrapWords } from '../../text/width.ts';
import { nextRuns } from '../output/next-runs.ts';
import { paint, type Style } from '../output/style.ts';
import { crontabChanges, dropInFor, type Watched } from './apply.ts';
import type { CrontabChange } from './crontab/write.ts';
import type { Discovery } from './discovery.ts';
import { dueInWords } from './drift.ts';
import type { Due } from './due/due.ts';
import type { Finding, FindingKind } from './findings.ts';
import type { PassedOver } from './host/host.ts';
import { dropInPath } from './systemd/drop-in.ts';

/** @param findings what is known about existing snitches; null if no server was asked */
export function discoveryLines(
  watched: readonly Watched[],
  { watched: before, passedOver, ignored }: Discovery,
  findings: readonly Finding[] | null,
  style: Style,
): string[] {
  const proposed = watched.flatMap((one) => [...proposalLines(one, style), '']);
  return [
    ...proposed,
    ...findingLines(findings ?? [], ['drifted', 'unknown', 'gone', 'inexact'], style),
    ...listOf('Watched already:', before, style),
    ...listOf('Not proposed:', passedOver, style),
    ...listOf('Ignored:', ignored, style),
  ];
}

function proposalLines(watched: Watched, style: Style): string[] {
  const { name, due, schedule, where, user, source } = watched.proposal;
  const place = [where, schedule, ...(user === null ? [] : [`runs as ${user}`])].join(', ');
  const told = [...nextLine(due, style.now), ...due.remarks];
  const lines = [
    paint(style, 'bold', printable(watched.snitch?.name ?? name)),
    ...wrapped(dueLine(due), style, 2).map((line) => paint(style, 'cyan', line)),
    ...wrapped(place, style, 2).map((line) => paint(style, 'dim', line)),
    ...told.flatMap((line) => wrapped(line, style, 2)).map((line) => paint(style, 'dim', line)),
  ];
  if (source.kind === 'cron') {
    const changes = crontabChanges([watched]);
    return [...lines, ...changes.flatMap((change) => changedLines(change, style).map((line) => `  ${line}`))];
  }
  const text = dropInFor(watched).trimEnd().split('\n');
  const added = [dropInPath(source.timer.service), ...text.map((line) => `  ${line}`)];
  return [...lines, ...added.map((line) => paint(style, 'green', `  + ${printable(line)}`))];
}

/** `cron 25 6 * * * (Europe/Berlin), 1 h of grace` */
function dueLine(due: Due): string {
  if (due.schedule === null) return `interval ${due.interval}`;
  const grace = due.grace === null ? '' : `, ${durationInWords(due.grace * SECOND)} of grace`;
  return `${dueInWords(due)}${grace}`;
}

/** The next runs, so that a wrong expression or zone is seen at once. */
function nextLine({ schedule, timezone }: Due, now: number): string[] {
  if (schedule === null || 'every' in schedule) return [];
  const read = readOrNull(schedule, timezone ?? 'UTC');
  if (read === null) return [];
  const runs = instantsAfter(read, now, 4).map((at) => {
    const iso = new Date(at).toISOString();
    return { at: iso, local: iso, deadline: iso, deadline_local: iso };
  });
  return [`next: ${nextRuns({ runs, timezone: read.timezone }, now)}`];
}

/** Text for a terminal of any width; elsewhere it is one line. */
function wrapped(text: string, { width }: Style, indent: number): string[] {
  const margin = ' '.repeat(indent);
  if (!Number.isFinite(width)) return [`${margin}${printable(text)}`];
  const [first = '', ...others] = wrapWords(printable(text), width - indent - 2);
  return [`${margin}${first}`, ...others.map((line) => `${margin}  ${line}`)];
}

/** The diff of a crontab, under the name of its file. */
export function changeLines(change: CrontabChange, style: Style): string[] {
  const path = printable(change.crontab.shown);
  return [
    paint(style, 'bold', `--- ${path}`),
    paint(style, 'bold', `+++ ${path}`),
    ...changedLines(change, style),
  ];
}

function changedLines({ lines }: CrontabChange, style: Style): string[] {
  return lines.flatMap(({ before, after }) => [
    paint(style, 'red', `- ${lineOfFile(before)}`),
    paint(style, 'green', `+ ${lineOfFile(after)}`),
  ]);
}

/** With its tabs, so that it can be copied into the crontab. */
function lineOfFile(line: string): string {
  return line.split('\t').map(printable).join('\t');
}

function listOf(title: string, items: readonly PassedOver[], style: Style): string[] {
  if (items.length === 0) return [];
  return [
    paint(style, 'bold', title),
    ...items.flatMap(({ where, what, reason }) => wrapped(`${where}: ${reason}: ${what}`, style, 2)),
  ];
}

const TITLES: Record<FindingKind, string> = {
  unwatched: 'Not watched:',
  drifted: 'Not as its snitch expects:',
  unknown: 'Checks in to a missing snitch:',
  gone: 'Snitches without a job:',
  unclear: 'Cannot be watched:',
  inexact: 'Could be more exact:',
};

/** The findings of these kinds, each kind under its title. They name no command, which may hold a password. */
export function findingLines(
  findings: readonly Finding[],
  kinds: readonly FindingKind[],
  style: Style,
): string[] {
  return kinds.flatMap((kind) => {
    const found = findings.filter((one) => one.kind === kind);
    if (found.length === 0) return [];
    const lines = found.map(({ name, where, words }) =>
      name === '' ? `${where}: ${words}` : `${name} (${where}): ${words}`,
    );
    return [paint(style, 'bold', TITLES[kind]), ...lines.flatMap((line) => wrapped(line, style, 2))];
  });
}

export const ALL_KINDS = Object.keys(TITLES) as readonly FindingKind[];

/** What was discovered, as data for programs. */
export function discoveryData(
  watched: readonly Watched[],
  discovery: Discovery,
  findings: readonly Finding[] | null,
): unknown {
  return {
    proposals: watched.map((one) => {
      const { name, interval, due, schedule, where, user, source } = one.proposal;
      const [change] = crontabChanges([one]);
      return {
        name: one.snitch?.name ?? name,
        interval,
        schedule,
        due: { schedule: due.schedule, timezone: due.timezone, grace: due.grace },
        remarks: due.remarks,
        where,
        user,
        token: one.snitch?.token ?? null,
        ...(source.kind === 'cron'
          ? { line: change?.lines[0]?.after ?? '' }
          : { drop_in: { path: dropInPath(source.timer.service), text: dropInFor(one) } }),
      };
    }),
    watched: discovery.watched.map(({ where, what, reason }) => ({ where, what, reason })),
    passed_over: discovery.passedOver.map(({ where, what, reason }) => ({ where, what, reason })),
    ignored: discovery.ignored,
    // Null if no server was asked.
    findings:
      findings?.filter(({ kind }) => !['unwatched', 'unclear'].includes(kind)).map(findingData) ?? null,
  };
}

export function findingData({ kind, name, where, words, token, difference }: Finding): unknown {
  return { kind, name: name || null, where, words, token, changes: difference?.changes ?? null };
}
