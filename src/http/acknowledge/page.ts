/**
 * The page behind the link of an alarm: plain HTML that needs no script, for a phone at three in the morning. Text from
 * outside is escaped, and isolated so right-to-left text does not reorder anything around it.
 */
import { createHash } from 'node:crypto';
import { LONGEST_BY, LONGEST_NOTE } from '../../core/acknowledgement/input.ts';
import { type AlertDetails, reasonOf } from '../../core/alert.ts';
import type { Alarm } from '../../store/acknowledgements.ts';
import { escaped } from '../../text/html.ts';
import { printable, shorten } from '../../text/printable.ts';
import { minuteInTimeZone } from '../../text/times.ts';

const STYLE = `
:root{color-scheme:light dark;--back:#fff;--text:#1c1c1e;--dim:#5b5b63;--bad:#b3261e;--line:#8a8a92;--good:#17693a}
@media (prefers-color-scheme:dark){:root{--back:#17171a;--text:#ececf0;--dim:#a9a9b3;--bad:#ff8a80;--line:#77777f;--good:#7ddc9f}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:34rem;padding:1.25rem;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,sans-serif}
h1{margin:0 0 .5rem;font-size:1.35rem;line-height:1.3;overflow-wrap:anywhere}
p,dd{margin:0 0 .75rem;overflow-wrap:anywhere}
dt{color:var(--dim);font-size:.875rem}
.bad{color:var(--bad);font-weight:600}
.good{color:var(--good);font-weight:600}
form+p{margin-top:.75rem}
.dim{color:var(--dim);font-size:.875rem}
label{display:block;margin:0 0 .75rem}
input{display:block;width:100%;margin-top:.25rem;padding:.6rem;border:1px solid var(--line);border-radius:.4rem;background:transparent;color:inherit;font:inherit}
button{width:100%;padding:.8rem;border:0;border-radius:.4rem;background:#1a5fb4;color:#fff;font:inherit;font-weight:600}
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * For every page of this kind. It loads nothing, runs nothing, is not cached, and reveals its address to no other site.
 */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex, nofollow, noarchive',
};

const NAME_SHOWN = 200;

/** What somebody typed, and what is wrong with it. */
export interface Form {
  seal: string;
  by: string;
  note: string;
  /** What was wrong with it, in sentences. */
  problems: readonly string[];
}

/** @param form null if there is nothing left to acknowledge */
export function alarmPage(alarm: Alarm, said: string | null, form: Form | null): string {
  const name = shorten(printable(alarm.alert.snitch.name), NAME_SHOWN);
  return layOut(
    name,
    [
      `<h1>${isolated(name)}</h1>`,
      `<p class="bad">${escaped(whatOf(alarm))}</p>`,
      `<dl>${factsOf(alarm)
        .map(({ label, value }) => `<dt>${escaped(label)}</dt><dd>${isolated(value)}</dd>`)
        .join('')}</dl>`,
      said === null ? '' : `<p class="good">${said}</p>`,
      form === null ? '' : formPart(form),
    ].join('\n'),
  );
}

/** A page without an alarm: why there is none to show. */
export function plainPage(title: string, text: string): string {
  return layOut(title, `<h1>${escaped(title)}</h1>\n<p>${escaped(text)}</p>`);
}

function layOut(title: string, body: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escaped(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

function formPart({ seal, by, note, problems }: Form): string {
  return `${problems.map((problem) => `<p class="bad">${escaped(problem)}</p>`).join('\n')}
<form method="post">
<input type="hidden" name="page" value="${escaped(seal)}">
<label>Your name, if you like<input name="by" maxlength="${LONGEST_BY}" autocomplete="name" value="${escaped(by)}"></label>
<label>A note for the others, if you like<input name="note" maxlength="${LONGEST_NOTE}" autocomplete="off" value="${escaped(note)}"></label>
<button>Acknowledge</button>
</form>
<p class="dim">Then there are no more reminders, and nobody else is called, until its status changes.</p>`;
}

function whatOf({ alert: { type, details } }: Alarm): string {
  const often = details.flapping ? ' It changes too often.' : '';
  return `${type === 'snitch.missing' ? absence(details) : fault(details)}${often}`;
}

function absence({ startedAt }: AlertDetails): string {
  return startedAt === undefined ? 'It did not check in.' : 'A run of it has not ended.';
}

/** The job itself may have reported a success. */
function fault({ reason }: AlertDetails): string {
  return reason?.kind === 'judged' ? 'A run of it counts as an error.' : 'It reported an error.';
}

/** An alarm may be decided long after what it reports: a check-in came late, or a silence kept the alarm back. */
function sinceOf({ alert: { at, details, type } }: Alarm): number {
  const { missingSince, deadlineAt, ranAt, silencedSince, flapping } = details;
  if (type === 'snitch.missing') return missingSince ?? deadlineAt ?? at;
  return ranAt ?? silencedSince ?? flapping?.changedAt ?? at;
}

function factsOf(alarm: Alarm) {
  const {
    alert: { details },
    case: { name, timezone },
  } = alarm;
  const why = reasonOf(details, timezone);
  const facts = [
    { label: 'Since', value: minuteInTimeZone(sinceOf(alarm), timezone) },
    { label: 'Why', value: shorten(printable(why ?? ''), 1_000) },
    { label: 'It said', value: shorten(printable(details.message ?? ''), 1_000) },
    { label: 'Case', value: shorten(printable(name), NAME_SHOWN) },
  ];
  return facts.filter(({ value }) => value !== '');
}

/** Who has seen the alarm, as HTML; null for nobody. */
export function seenBy({ acknowledged, case: { timezone } }: Alarm): string | null {
  if (acknowledged === null) return null;
  const { by, at, note } = acknowledged;
  const said = note === null ? '' : `: ${isolated(printable(note))}`;
  return `by ${isolated(printable(by))} at ${escaped(minuteInTimeZone(at, timezone))}${said}`;
}

/** What has become of an alarm that is over, in a sentence. */
export function endOf({ status }: Alarm): string {
  switch (status) {
    case null:
      return 'This alarm is over: the snitch was deleted. There is nothing to acknowledge.';
    case 'paused':
      return 'It is paused now, so nobody is told of it. There is nothing to acknowledge.';
    case 'failed':
    case 'errored':
      return `This alarm is over. What is wrong now (${status === 'failed' ? 'it is missing' : 'it reported an error'}) is another alarm, whose message has its own link. Nothing was acknowledged.`;
    default:
      return `This alarm is over: it is ${status} now. There is nothing to acknowledge.`;
  }
}

function isolated(text: string): string {
  return `<bdi>${escaped(text)}</bdi>`;
}
