/** The page as JSON, for other programs. */
import { periodsInWords } from '../../../core/status-page/strip.ts';
import { isoTime } from '../../../text/iso-time.ts';
import type { PageContent, ShownLine } from './collect.ts';
import { summaryOf } from './page.ts';
import { visible } from './text.ts';

export function statusJson(content: PageContent): string {
  const { page, timezone, now, groups, counts, total, leftOut } = content;
  const { text } = summaryOf(content);
  const { announcement } = page;
  return JSON.stringify({
    title: visible(page.title),
    summary: text,
    all_well: counts.well > 0 && counts.missing + counts.error === 0,
    as_of: isoTime(now),
    timezone,
    announcement: announcement && { text: announcement.text, at: isoTime(announcement.at) },
    counts,
    total,
    left_out: leftOut,
    groups: groups.map(({ tag, lines }) => ({ name: tag, snitches: lines.map(wireLine) })),
  });
}

function wireLine({ name, state, since, until, rhythm, edges, marks }: ShownLine) {
  return {
    name,
    state,
    since: since === null ? null : isoTime(since),
    until: until === null ? null : isoTime(until),
    periods: periodsInWords(rhythm),
    first_period_at: edges[0] === undefined ? null : isoTime(edges[0]),
    marks,
  };
}
