/** The page as an Atom feed: what began, what ended, and what was announced. */
import { createHash } from 'node:crypto';
import { escaped } from '../../../text/html.ts';
import { isoTime } from '../../../text/iso-time.ts';
import type { PageContent, ShownChange } from './collect.ts';
import { visible } from './text.ts';
import { timeInWords, zoneInWords } from './words.ts';

interface Entry {
  id: string;
  at: number;
  title: string;
  text: string;
}

/** @param addresses of the page and of this feed */
export function statusFeed(content: PageContent, { page, feed }: { page: string; feed: string }): string {
  const entries = entriesOf(content);
  const updated = entries[0]?.at ?? content.page.since;
  const title = escaped(visible(content.page.title));
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${idOf(`page ${content.page.id} ${content.page.since}`)}</id>
<title>${title}</title>
<updated>${isoTime(updated)}</updated>
<author><name>${title}</name></author>
<link rel="self" type="application/atom+xml" href="${escaped(feed)}"/>
<link rel="alternate" type="text/html" href="${escaped(page)}"/>
${entries.map((entry) => entryPart(entry, page)).join('')}</feed>
`;
}

function entryPart({ id, at, title, text }: Entry, page: string): string {
  return `<entry>
<id>${id}</id>
<title>${escaped(title)}</title>
<updated>${isoTime(at)}</updated>
<link rel="alternate" type="text/html" href="${escaped(page)}"/>
<content type="text">${escaped(text)}</content>
</entry>
`;
}

function entriesOf({ page, changes, timezone }: PageContent): Entry[] {
  const { announcement, id, since } = page;
  const words = (at: number) => `${timeInWords(at, timezone)} (${zoneInWords(at, timezone)})`;
  const entries = changes.map((change) => ({
    id: idOf(`change ${since} ${change.key}`),
    at: change.toldAt,
    title: titleOf(change),
    text: `${titleOf(change)} ${change.to === 'well' ? 'since' : 'as of'} ${words(change.at)}.`,
  }));
  if (announcement === null) return entries;
  const { at, text } = announcement;
  const said = {
    id: idOf(`said ${since} ${id} ${at}`),
    at,
    title: `Announcement: ${firstLine(text)}`,
    text: visible(text, ''),
  };
  return [...entries, said].sort((one, other) => other.at - one.at);
}

function titleOf({ name, to }: ShownChange): string {
  const shown = visible(name);
  switch (to) {
    case 'missing':
      return `${shown} has not reported`;
    case 'error':
      return `${shown} reported an error`;
    case 'well':
      return `${shown} is well again`;
  }
}

function firstLine(text: string): string {
  const [line = ''] = visible(text, '').trim().split('\n', 1);
  const characters = [...line];
  return characters.length <= 80 ? line : `${characters.slice(0, 79).join('')}…`;
}

/** Always the same for the same thing, even if the address of the page changes, and it reveals nothing. */
function idOf(what: string): string {
  const hex = createHash('sha256').update(what).digest('hex');
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `a${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ];
  return `urn:uuid:${parts.join('-')}`;
}
