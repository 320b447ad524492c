/** What a run must look like, and what it reported, as lists and single snitches show it. */
import type { WireCheckIn, WireSnitch } from '../../api/wire.ts';
import type { WireValue } from '../../api/wire-explanation.ts';
import { expectTexts } from '../../core/judgement/expect-text.ts';
import { exactNumber, roundedNumber } from '../../core/judgement/number-words.ts';
import { durationInWords, SECOND, shortDuration } from '../../text/durations.ts';
import type { Field } from './output.ts';

/** `5m or longer, 3 errors in a row, bytes>=1000000`: for one cell; empty for nothing. */
export function rulesCell({ min_runtime, failures_before_alert = 1, expect }: WireSnitch): string {
  return [
    min_runtime ? `${shortDuration(min_runtime * SECOND)} or longer` : '',
    failures_before_alert > 1 ? `${failures_before_alert} errors in a row` : '',
    ...(expect ?? []).flatMap(expectTexts),
  ]
    .filter((words) => words !== '')
    .join(', ');
}

/** Only the rules that are set. */
export function rulesFields({ min_runtime, failures_before_alert = 1, expect }: WireSnitch): Field[] {
  return [
    ...(min_runtime
      ? [{ label: 'Shortest run', text: `${durationInWords(min_runtime * SECOND)}; less counts as an error` }]
      : []),
    ...(failures_before_alert > 1
      ? [{ label: 'Errors', text: `${failures_before_alert} in a row before it is errored` }]
      : []),
    ...(expect?.length ? [{ label: 'Expects', text: expect.flatMap(expectTexts).join('\n') }] : []),
  ];
}

/** `bytes=812000000 rows=3` */
export function valuesCell({ values }: WireCheckIn): string {
  return Object.entries(values ?? {})
    .map(([name, value]) => `${name}=${exactNumber(value)}`)
    .join(' ');
}

/** What a check-in said, why it counts as an error all the same, and which of its values could not be read. */
export function wordsCell({ message, reason, dropped_values: dropped = [] }: WireCheckIn): string {
  const unread = dropped.length > 0 ? `not read: ${dropped.join('; ')}` : null;
  return [reason, message, unread].filter((words) => words).join('; ');
}

/** `bytes 812 M, usual 800 M` */
export function valueWords({ name, last, usual }: WireValue): string {
  const normal = usual === null ? '' : `, usual ${roundedNumber(usual)}`;
  return `${name} ${roundedNumber(last)}${normal}`;
}
