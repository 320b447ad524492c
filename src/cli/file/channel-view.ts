/** What applying a file would do to channels, for people. No secret is ever shown. */
import { countOf } from '../output/count.ts';
import type { ChannelCreation, ChannelPlan } from './channel-plan.ts';
import type { FieldChange } from './field-change.ts';

export type Sign = '+' | '~' | '-' | '!';

/** A line, and those below it: changes of fields, and remarks. */
export interface ChannelLine {
  sign: Sign;
  text: string;
  fields: readonly (FieldChange | string)[];
}

const named = ({ kind, name }: { kind: string; name: string }) => `channel ${name} (${kind})`;

export function channelLines({ create, change, gone }: ChannelPlan, prune: boolean): ChannelLine[] {
  const created = create.map((one): ChannelLine => {
    const files = filesOf(one).map(([setting, file]) => `${setting}: is read from ${file}`);
    return { sign: '+', text: `create ${named(one)}`, fields: files };
  });
  const changed = change.map((one): ChannelLine => {
    const files = filesOf(one)
      .filter(([setting]) => one.fields.every(({ field }) => field !== setting))
      .map(([setting, file]) => `${setting}: is read from ${file} and sent; whether it differs is unknown`);
    return { sign: '~', text: `change ${named(one)}`, fields: [...one.fields, ...files] };
  });
  const left = gone.map((one): ChannelLine => {
    const what = prune ? `delete ${named(one)}` : `not in the file, and kept: ${named(one)}`;
    return { sign: prune ? '-' : '!', text: what, fields: [] };
  });
  return [...created, ...changed, ...left];
}

function filesOf({ secretFiles }: ChannelCreation): [string, string][] {
  return Object.entries(secretFiles);
}

/** `1 channel to create`, … */
export function channelSummary({ create, change, gone, unchanged }: ChannelPlan, prune: boolean): string[] {
  const known = change.filter(({ fields }) => fields.length > 0).length;
  const channels = (count: number, what: string) =>
    count > 0 ? `${countOf(count, 'channel', 'channels')} ${what}` : '';
  return [
    channels(create.length, 'to create'),
    channels(known, 'to change'),
    channels(change.length - known, 'whose secret is sent'),
    channels(gone.length, prune ? 'to delete' : 'not in the file'),
    channels(unchanged, 'unchanged'),
  ];
}
