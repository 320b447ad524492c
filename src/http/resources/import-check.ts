/** `/v1/imports/check`: why an import or a change of the case would be refused, without changing anything. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { WireImportCheck, WireImported } from '../../api/wire.ts';
import type { Validation } from '../../core/errors.ts';
import { type ImportedInput, importedAttribute, TOKEN_TAKEN } from '../../core/imported-snitch.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readAs } from '../endpoint/body.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { caseChanges } from './case-schema.ts';
import { readSnitches, snitches } from './import-schema.ts';

const check = z.object({ snitches: snitches.default([]), case: z.unknown().optional() });

/** Everything wrong with the snitches and the settings of a case, and how many more snitches the case may have. */
export function checkImport({ store, clock }: RouteContext) {
  return async (request: FastifyRequest) => {
    const { id, timezone } = caseOf(request);
    const wanted = await readAs(request, check);
    const said = { timezone: zoneOf(wanted.case) ?? timezone, now: clock() };
    const { imported, validations, indexes } = readSnitches(wanted.snitches, said);
    for (const [position, { token }] of imported.entries()) {
      if (token === null) continue;
      const holder = await store.ownerOfToken(token);
      // A token that this case holds already names the snitch that would be changed.
      if (holder !== null && holder !== id) {
        validations.push({
          attribute: importedAttribute(indexes[position] ?? 0, 'token'),
          message: TOKEN_TAKEN,
        });
      }
    }
    const settings = caseChanges.safeParse(wanted.case ?? {});
    return {
      snitches: imported.map(wireImported),
      case: settings.data ?? {},
      problems: [...faultsOfCase(settings.error), ...validations],
      room: await store.roomForSnitches(id),
    } satisfies WireImportCheck;
  };
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
  return { ...imported, alert_type: alertType, alert_email: alertEmail, max_runtime: maxRuntime };
}
