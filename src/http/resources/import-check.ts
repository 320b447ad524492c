/** `/v1/imports/check`: why an import or a change of the case would be refused, without changing anything. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { WireImportCheck, WireImported } from '../../api/wire.ts';
import type { ChannelSurroundings } from '../../core/channels/input.ts';
import type { Validation } from '../../core/errors.ts';
import { type ImportedInput, importedAttribute, TOKEN_TAKEN } from '../../core/imported-snitch.ts';
import { MOST_WEBHOOKS } from '../../core/resource-limits.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readAs } from '../endpoint/body.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { wireRunRules } from '../endpoint/wire.ts';
import { caseChanges } from './case-schema.ts';
import { channelsToCheck, checkChannels } from './channel-check.ts';
import { readSnitches, snitches } from './import-schema.ts';

const check = z.object({
  snitches: snitches.default([]),
  case: z.unknown().optional(),
  channels: channelsToCheck.optional(),
});

/** Everything wrong with snitches, channels and settings of a case, and how many more of them the case may have. */
export function checkImport({ store, clock, commands, refusalOf }: RouteContext) {
  return async (request: FastifyRequest) => {
    const { id, timezone } = caseOf(request);
    const wanted = await readAs(request, check);
    const said = { timezone: zoneOf(wanted.case) ?? timezone, now: clock() };
    const { imported, validations, indexes } = readSnitches(wanted.snitches, said);
    for (const [position, { token }] of imported.entries()) {
      if (token === null) continue;
      const holder = await store.ownerOfToken(token);
      // A token that this case already has names the snitch that would be changed.
      if (holder !== null && holder !== id) {
        validations.push({
          attribute: importedAttribute(indexes[position] ?? 0, 'token'),
          message: TOKEN_TAKEN,
        });
      }
    }
    const settings = caseChanges.safeParse(wanted.case ?? {});
    const channels =
      wanted.channels && (await channelsOf(store, id, wanted.channels, { commands: commands(), refusalOf }));
    return {
      snitches: imported.map(wireImported),
      case: settings.data ?? {},
      problems: [...faultsOfCase(settings.error), ...(channels?.problems ?? []), ...validations],
      room: await store.roomForSnitches(id),
      ...(channels ? { channels: channels.channels, channel_room: channels.room } : {}),
    } satisfies WireImportCheck;
  };
}

async function channelsOf(
  store: RouteContext['store'],
  caseId: string,
  wanted: readonly unknown[],
  around: ChannelSurroundings,
) {
  const stored = await store.listChannels(caseId);
  const targets = stored.length + (await store.listWebhooks(caseId)).length;
  return { ...checkChannels(wanted, stored, around), room: Math.max(0, MOST_WEBHOOKS - targets) };
}

/** The time zone that the case would have. */
function zoneOf(settings: unknown): string | undefined {
  return caseChanges.safeParse(settings ?? {}).data?.timezone;
}

function faultsOfCase(error: z.ZodError | undefined): Validation[] {
  return (error?.issues ?? []).map(({ path, message }) => ({
    attribute: ['case', ...path].join('.'),
    message,
  }));
}

function wireImported({ alertType, alertEmail, maxRuntime, ...imported }: ImportedInput): WireImported {
  const { minRuntime, failuresBeforeAlert, expect, publicName = null, ...others } = imported;
  const rules = wireRunRules({ minRuntime, failuresBeforeAlert, expect });
  const named = { name: others.name, public_name: publicName };
  return {
    ...named,
    ...others,
    alert_type: alertType,
    alert_email: alertEmail,
    max_runtime: maxRuntime,
    ...rules,
  };
}
