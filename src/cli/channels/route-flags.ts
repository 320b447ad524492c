/** The options that say which alerts go where and when, and how that is shown. */
import { type Command, Option } from 'commander';
import type { Client } from '../../api/client.ts';
import type { WireChannel } from '../../api/wire.ts';
import { CHANNEL_EVENTS, DEFAULT_EVENTS, LONGEST_AFTER } from '../../core/channel.ts';
import { type Hours, hoursText } from '../../core/hours/hours.ts';
import { parseHours } from '../../core/hours/hours-input.ts';
import { compactDuration, durationInWords, durationOf, SECOND } from '../../text/durations.ts';
import { collect } from '../command/command.ts';
import { UsageError } from '../failure/failure.ts';

export interface RouteFlags {
  tag?: string[];
  allTags?: boolean;
  events?: string[];
  /** The former name of `events`. */
  event?: string[];
  after?: string;
  hours?: string;
}

/** The fields of a route that the API accepts. */
type Route = Partial<Pick<WireChannel, 'events' | 'tags' | 'after' | 'hours'>>;

export function addRouteFlags(command: Command): Command {
  return command
    .option('-t, --tag <tag>', 'only alerts about snitches with this tag; repeat it for several', collect)
    .addOption(
      new Option(
        '--events <events>',
        'only these, separated by commas; "default" means all but blind',
      ).argParser(eventsOf),
    )
    .addOption(new Option('--event <event>').argParser(eventsOf).hideHelp())
    .option('--after <time>', 'an alarm only if it lasts this long and nobody acknowledges it; 0 for at once')
    .option('--hours <hours>', 'only in these, such as "mon-fri 08:00-18:00 Europe/Berlin"; or "always"');
}

function eventsOf(value: string, earlier: string[] = []): string[] {
  if (value === 'default') return [...DEFAULT_EVENTS];
  const named = value.split(',').map((one) => one.trim());
  if (named.every((one) => (CHANNEL_EVENTS as readonly string[]).includes(one)))
    return [...earlier, ...named];
  throw new UsageError(`--events are of ${CHANNEL_EVENTS.join(', ')}`);
}

/** Only the options that were given. @throws UsageError naming the option */
export async function routeOf(flags: RouteFlags, client: Client): Promise<Route> {
  const { tag, allTags, event, events = event, after, hours } = flags;
  if (tag && allTags) throw new UsageError('use either --tag or --all-tags, not both');
  return {
    ...(allTags ? { tags: [] } : tag ? { tags: tag } : {}),
    ...(events ? { events } : {}),
    ...(after === undefined ? {} : { after: afterOf(after) }),
    ...(hours === undefined ? {} : { hours: await hoursOf(hours, client) }),
  };
}

/** In seconds. */
function afterOf(text: string): number {
  if (text.trim() === '0' || text.trim() === 'none') return 0;
  const length = durationOf(text);
  const seconds = length === null ? 0 : Math.ceil(length / SECOND);
  if (seconds > 0 && seconds <= LONGEST_AFTER) return seconds;
  throw new UsageError(
    `--after: "${text}" is not a length of time up to 7 days: write 90s, 30m or 2h; 0 is at once`,
  );
}

/** In the time zone of the case, if none is named. */
async function hoursOf(text: string, client: Client): Promise<WireChannel['hours']> {
  if (text.trim() === 'always' || text.trim() === 'none') return null;
  const isZoned = /:\d\d\s+\S+$/.test(text.trim());
  const timezone = isZoned ? 'UTC' : (await client.getCase()).timezone;
  const { hours, problem } = parseHours(text, timezone);
  if (!hours) throw new UsageError(`--hours: ${problem}`);
  return { ...hours, days: [...hours.days] };
}

/** For the column of a table: `30m`, `mon-fri 08:00-18:00`; the time zone is shown elsewhere. */
export function whenText({ after, hours }: Pick<WireChannel, 'after' | 'hours'>): string {
  const window = hours ? hoursText(hours as Hours).replace(` ${hours.timezone}`, '') : '';
  const delay = after > 0 ? `after ${compactDuration(after * SECOND)}` : '';
  return [delay, window].filter((part) => part !== '').join(', ');
}

/** The whole route, for the lines of one channel. */
export function routeLines({
  events,
  tags,
  after,
  hours,
}: Route & Pick<WireChannel, 'events' | 'tags'>): { label: string; text: string }[] {
  return [
    { label: 'Events', text: events.join(', ') },
    { label: 'Tags', text: tags.join(', ') || 'all' },
    {
      label: 'After',
      text: after ? `${durationInWords(after * SECOND)}, if nobody acknowledges` : 'at once',
    },
    { label: 'Hours', text: hours ? hoursText(hours as Hours) : 'always' },
  ];
}
