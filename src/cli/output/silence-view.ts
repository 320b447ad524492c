/** How a silence is shown in lists and on its own. */
import type { Client } from '../../api/client.ts';
import type { WireSilence } from '../../api/wire-kept-back.ts';
import { durationInWords, SECOND } from '../../text/durations.ts';
import { listed } from '../../text/listed.ts';
import { exactTime, type Field, shownTime, type View } from './output.ts';
import type { Style } from './style.ts';

/** The names of snitches by their tokens, as far as they are known. */
type Names = ReadonlyMap<string, string>;

/** The most tokens whose names are requested. */
const MOST_ASKED = 20;

/** How many snitches of a silence are named; the others are counted. */
const MOST_NAMED = 3;

/** The names of the silenced snitches that are shown. */
export async function namesOf(client: Client, silences: readonly WireSilence[]): Promise<Names> {
  const shown = silences.flatMap(({ tokens }) => tokens?.slice(0, MOST_NAMED) ?? []);
  const tokens = [...new Set(shown)].slice(0, MOST_ASKED);
  const found = await Promise.all(tokens.map((token) => client.getSnitch(token).catch(() => null)));
  return new Map(found.filter((snitch) => snitch !== null).map(({ token, name }) => [token, name]));
}

/** `all snitches`; `tag db or web1`; `a, b and 3 more` */
export function coverageWords({ all, tags, tokens }: WireSilence, names: Names): string {
  if (all) return 'all snitches';
  if (tags) return `tag ${tags.join(' or ')}`;
  const first = (tokens ?? []).slice(0, MOST_NAMED);
  return listed(
    first.map((token) => names.get(token) ?? token),
    tokens?.length,
  );
}

function stateOf({ active, schedule, next }: WireSilence): string {
  if (active) return 'active';
  if (schedule) return 'recurring';
  return next ? 'coming' : 'over';
}

function scheduleText({ schedule, duration, timezone }: WireSilence): string {
  if (!schedule) return '';
  const expression = 'cron' in schedule ? schedule.cron : schedule.calendar;
  const zone = timezone ? ` ${timezone}` : '';
  return `${expression}${zone} for ${durationInWords((duration ?? 0) * SECOND)}`;
}

/** The stretch of time in which it is in force, or next will be. */
function stretchOf({ current, next, from, to }: WireSilence): { from: string; to: string } | null {
  return current ?? next ?? (from !== null && to !== null ? { from, to } : null);
}

export const SILENCE_VIEW: Pick<View<WireSilence>, 'name' | 'id'> = {
  name: ({ id }) => id,
  id: ({ id }) => id,
};

export function silencesView(names: Names): View<WireSilence> {
  return {
    ...SILENCE_VIEW,
    empty: 'nothing is silenced: `snitch silence --tag TAG 30m`',
    columns: [
      {
        header: 'STATE',
        cell: stateOf,
        paint: ({ active }) => (active ? 'yellow' : null),
      },
      { header: 'COVERS', cell: (one) => coverageWords(one, names), shrinkTo: 8 },
      {
        header: 'BEGINS',
        cell: (one, style) => shownTime(stretchOf(one)?.from ?? null, style),
        optional: true,
      },
      { header: 'ENDS', cell: (one, style) => shownTime(stretchOf(one)?.to ?? null, style) },
      { header: 'EACH', cell: scheduleText, shrinkTo: 10, optional: true },
      { header: 'BY', cell: ({ by }) => by, shrinkTo: 6, optional: true },
      { header: 'NOTE', cell: ({ note }) => note, shrinkTo: 8, optional: true },
      { header: 'ID', cell: ({ id }) => id, optional: true },
    ],
  };
}

export function silenceFields(one: WireSilence, names: Names, style: Style): Field[] {
  const stretch = stretchOf(one);
  return [
    { label: 'Silence', text: one.id, paint: 'bold' },
    { label: 'Covers', text: coverageWords(one, names) },
    ...(one.active ? [] : [{ label: 'From', text: exactTime(stretch?.from ?? null, style) }]),
    { label: 'Until', text: exactTime(stretch?.to ?? null, style) },
    ...(one.schedule ? [{ label: 'Each', text: scheduleText(one) }] : []),
    { label: 'By', text: one.by },
    ...(one.note === '' ? [] : [{ label: 'Note', text: one.note }]),
  ];
}
