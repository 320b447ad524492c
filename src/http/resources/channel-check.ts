/** How the channels of a file are understood, and why they would be refused. Nothing is changed. */
import { z } from 'zod';
import type { WireCheckedChannel } from '../../api/wire.ts';
import type { CaseChannel } from '../../core/channel.ts';
import {
  type ChannelSurroundings,
  validateChannelChanges,
  validateNewChannel,
} from '../../core/channels/input.ts';
import type { Validation } from '../../core/errors.ts';
import { MOST_WEBHOOKS } from '../../core/resource-limits.ts';
import { wireChannel } from './channels.ts';

export const channelsToCheck = z
  .array(z.unknown(), { error: 'must be an array of channels' })
  .max(MOST_WEBHOOKS, `has too many channels (maximum is ${MOST_WEBHOOKS})`);

/** An entry with an `id` is that channel with changes; one without is new. */
export function checkChannels(
  given: readonly unknown[],
  stored: readonly CaseChannel[],
  around: ChannelSurroundings,
): { channels: WireCheckedChannel[]; problems: Validation[] } {
  const channels: WireCheckedChannel[] = [];
  const problems: Validation[] = [];
  for (const [index, body] of given.entries()) {
    const { value, validations } = understood(body, stored, around);
    for (const { attribute, message } of validations ?? []) {
      problems.push({ attribute: `channels[${index}].${attribute}`, message });
    }
    if (value) channels.push(shown(value));
  }
  return { channels, problems };
}

type Understood = { value: CaseChannel; validations?: never } | { value?: never; validations: Validation[] };

function understood(body: unknown, stored: readonly CaseChannel[], around: ChannelSurroundings): Understood {
  const id = (body as { id?: unknown } | null)?.id;
  if (id === undefined || id === null) {
    const { value, validations } = validateNewChannel(body, around);
    if (validations) return { validations };
    const { kind, name, fields } = value;
    return {
      value: { id: '', caseId: '', kind, name: name ?? kind, ...fields, refused: null, createdAt: 0 },
    };
  }
  const meant = stored.find((one) => one.id === id);
  if (!meant) return { validations: [{ attribute: 'id', message: 'no channel of the case has it' }] };
  const { value, validations } = validateChannelChanges(body, meant, around);
  return validations ? { validations } : { value: { ...meant, ...value } };
}

function shown(channel: CaseChannel): WireCheckedChannel {
  const { id: _, refused: _refused, created_at: _at, ...fields } = wireChannel(channel);
  return fields;
}
