/** The page as HTML. Text from people is made visible, escaped, and isolated. */
import { MARKS } from '../../../core/status-page/strip.ts';
import { escaped } from '../../../text/html.ts';
import { isoTime } from '../../../text/iso-time.ts';
import type { PageContent, ShownGroup, ShownLine, State } from './collect.ts';
import { iconLink, markPicture, type Sign, signPicture, stripPicture } from './pictures.ts';
import { layOut } from './style.ts';
import { isolated, linked, visible } from './text.ts';
import {
  MARK_WORDS,
  periodInWords,
  shareInWords,
  stateInWords,
  stripInWords,
  timeInWords,
  zoneInWords,
} from './words.ts';

export function statusPage(content: PageContent): string {
  const { page, groups } = content;
  const { sign, text } = summaryOf(content);
  const title = escaped(visible(page.title));
  const inTab = sign === 'bad' ? `${escaped(text)} – ${title}` : title;
  const slug = encodeURIComponent(page.slug);
  const feed = `<link rel="alternate" type="application/atom+xml" href="${slug}/feed.xml" title="${title}">\n`;
  return layOut({
    title: inTab,
    head: `${feed}${iconLink(sign)}`,
    body: [
      headerPart(content),
      '<main>',
      announcementPart(content),
      ...groups.map((group) => groupPart(group, content)),
      leftOutPart(content),
      legendPart(groups),
      '</main>',
      footerPart(slug),
    ]
      .filter((part) => part !== '')
      .join('\n'),
  });
}

const SUMMARY_CLASS: Record<Sign, string> = { well: 'good', bad: 'bad', calm: 'calm', open: 'calm' };

function headerPart(content: PageContent): string {
  const { page, now, timezone } = content;
  const { sign, text } = summaryOf(content);
  const zone = escaped(zoneInWords(now, timezone));
  return `<header>
<h1>${isolated(page.title)}</h1>
<p class="sum ${SUMMARY_CLASS[sign]}">${signPicture(sign)}<span>${escaped(text)}</span></p>
<p class="dim">As of ${timeTag(now, timezone)}. All times are those of ${zone}.</p>
</header>`;
}

/** What the page says first, about all snitches together. */
export function summaryOf({ counts, total }: Pick<PageContent, 'counts' | 'total'>): {
  sign: Sign;
  text: string;
} {
  const bad = counts.missing + counts.error;
  const resting = counts.planned + counts.paused;
  if (total === 0) return { sign: 'open', text: 'There is nothing to show yet' };
  if (bad > 0) return { sign: 'bad', text: `${bad} of ${total} ${bad === 1 ? 'is' : 'are'} not well` };
  if (counts.well === total)
    return { sign: 'well', text: total === 1 ? 'All is well' : `All ${total} are well` };
  if (counts.well === 0) {
    return {
      sign: 'calm',
      text: resting === 0 ? 'Nothing has reported yet' : 'Nothing is watched at present',
    };
  }
  const rest = [
    resting === 0 ? '' : `${resting} ${resting === 1 ? 'rests' : 'rest'}`,
    counts.pending === 0 ? '' : `${counts.pending} ${counts.pending === 1 ? 'has' : 'have'} yet to report`,
  ].filter((part) => part !== '');
  return {
    sign: 'well',
    text: `${counts.well} of ${total} ${counts.well === 1 ? 'is' : 'are'} well, ${rest.join(', ')}`,
  };
}

function announcementPart({ page, timezone }: PageContent): string {
  if (page.announcement === null) return '';
  const { text, at } = page.announcement;
  return `<section class="say" aria-labelledby="say">
<h2 id="say">Announcement</h2>
<p class="text" dir="auto">${linked(text)}</p>
<p class="dim">Made ${timeTag(at, timezone)}</p>
</section>`;
}

function groupPart({ tag, lines }: ShownGroup, content: PageContent): string {
  const items = lines.map((line) => linePart(line, content)).join('\n');
  const heading = headingOf(tag, content);
  const hidden = heading === '' ? '' : `<h2>${heading}</h2>\n`;
  return `<section>\n${hidden}<ul class="list"${hidden === '' ? ' aria-label="What is watched"' : ''}>\n${items}\n</ul>\n</section>`;
}

function headingOf(tag: string | null, { groups, page }: PageContent): string {
  if (tag !== null) return isolated(tag);
  if (groups.length > 1) return 'Others';
  return page.announcement === null ? '' : 'What is watched';
}

const STATE_SIGNS: Record<State, Sign> = {
  well: 'well',
  missing: 'bad',
  error: 'bad',
  planned: 'calm',
  paused: 'calm',
  pending: 'open',
};

function linePart(line: ShownLine, { timezone, now }: PageContent): string {
  const { text, time, length } = stateInWords(line, now);
  const lasting = length === '' ? '' : ` for ${escaped(length)},`;
  const when = time === null ? '' : ` ${time.word} ${timeTag(time.at, timezone)}`;
  const label = escaped(stripInWords(line, timezone));
  const first = line.edges[0];
  const from = first === undefined ? '' : timeTag(first, timezone, periodInWords(line, first, timezone));
  return `<li class="is-${line.state}">
<div class="row"><h3 class="name">${isolated(line.name)}</h3><p class="state">${signPicture(STATE_SIGNS[line.state])}<b>${text}</b>${lasting}${when}</p></div>
${stripPicture(line.marks, label)}
<p class="ends"><span>${from}</span><span>${escaped(shareInWords(line))}</span><span>now</span></p>
</li>`;
}

function leftOutPart({ leftOut, total }: PageContent): string {
  if (leftOut === 0) return '';
  return `<p class="dim">This page shows ${total - leftOut} of ${total}: all that is not well first, as far as there is room. The ${leftOut === 1 ? 'other is' : `${leftOut} others are`} counted above.</p>`;
}

function legendPart(groups: readonly ShownGroup[]): string {
  const used = new Set(groups.flatMap(({ lines }) => lines.flatMap(({ marks }) => marks)));
  if (used.size === 0) return '';
  const items = MARKS.filter((mark) => used.has(mark)).map(
    (mark) => `<li>${markPicture(mark)}${MARK_WORDS[mark]}</li>`,
  );
  return `<ul class="key" aria-label="What the marks mean">${items.join('')}</ul>`;
}

function footerPart(slug: string): string {
  return `<footer>
<p>Each mark stands for one period in which the job is expected. Planned work, and times at which the monitoring itself was away, are held against nobody.</p>
<p>A browser reads this page anew each minute; you can <a href="${slug}?refresh=off">stop that</a> and <a href="${slug}">begin it again</a>. The same as <a href="${slug}.json">JSON</a> and as a <a href="${slug}/feed.xml">feed</a>.</p>
</footer>`;
}

function timeTag(at: number, timezone: string, words = timeInWords(at, timezone)): string {
  return `<time datetime="${isoTime(at)}">${words}</time>`;
}

/** The form in front of a page with a password. It reveals nothing about the page. */
export function passwordPage(problem: string | null): string {
  const wrong = problem === null ? '' : `<p class="wrong" role="alert">${escaped(problem)}</p>\n`;
  return layOut({
    title: 'Password needed',
    head: '<meta name="robots" content="noindex, nofollow">\n',
    body: `<header><h1>This page has a password</h1></header>
<main>
${wrong}<form method="post">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus>
<button>Show the page</button>
</form>
</main>`,
  });
}

export function plainPage(title: string, text: string): string {
  return layOut({
    title: escaped(title),
    head: '<meta name="robots" content="noindex, nofollow">\n',
    body: `<header><h1>${escaped(title)}</h1></header>\n<main><p>${escaped(text)}</p></main>`,
  });
}
