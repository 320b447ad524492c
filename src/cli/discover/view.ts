/** Shows what was discovered, in lines for people and as data for programs. */
import { printable } from '../../text/printable.ts';
import { paint, type Style } from '../output/style.ts';
import { crontabChanges, dropInFor, type Watched } from './apply.ts';
import type { CrontabChange } from './crontab/write.ts';
import type { PassedOver } from './host/host.ts';
import type { Discovery } from './proposals.ts';
import { dropInPath } from './systemd/drop-in.ts';

export function discoveryLines(
  watched: readonly Watched[],
  { watched: before, passedOver }: Discovery,
  style: Style,
): string[] {
  const proposed = watched.flatMap((one) => [...proposalLines(one, style), '']);
  return [
    ...proposed,
    ...listOf('Watched already:', before, style),
    ...listOf('Not proposed:', passedOver, style),
  ];
}

function proposalLines(watched: Watched, style: Style): string[] {
  const { name, interval, schedule, where, user, source } = watched.proposal;
  const place = [where, schedule, ...(user === null ? [] : [`runs as ${user}`])].join(', ');
  const heading = `${paint(style, 'bold', printable(name))}  ${paint(style, 'cyan', interval)}`;
  const lines = [heading, paint(style, 'dim', `  ${printable(place)}`)];
  if (source.kind === 'cron') {
    const changes = crontabChanges([watched]);
    return [...lines, ...changes.flatMap((change) => changedLines(change, style).map((line) => `  ${line}`))];
  }
  const text = dropInFor(watched).trimEnd().split('\n');
  const added = [dropInPath(source.timer.service), ...text.map((line) => `  ${line}`)];
  return [...lines, ...added.map((line) => paint(style, 'green', `  + ${printable(line)}`))];
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
    paint(style, 'red', `- ${printable(before)}`),
    paint(style, 'green', `+ ${printable(after)}`),
  ]);
}

function listOf(title: string, items: readonly PassedOver[], style: Style): string[] {
  if (items.length === 0) return [];
  return [
    paint(style, 'bold', title),
    ...items.map(({ where, what, reason }) => printable(`  ${where}: ${reason}: ${what}`)),
  ];
}

/** What was discovered, as data for programs. */
export function discoveryData(watched: readonly Watched[], discovery: Discovery): unknown {
  return {
    proposals: watched.map((one) => {
      const { name, interval, schedule, where, user, source } = one.proposal;
      const [change] = crontabChanges([one]);
      return {
        name,
        interval,
        schedule,
        where,
        user,
        token: one.snitch?.token ?? null,
        ...(source.kind === 'cron'
          ? { line: change?.lines[0]?.after ?? '' }
          : { drop_in: { path: dropInPath(source.timer.service), text: dropInFor(one) } }),
      };
    }),
    watched: discovery.watched.map(({ where, what, reason }) => ({ where, what, reason })),
    passed_over: discovery.passedOver,
  };
}
