/**
 * `/v1/imports`: what commands need that keep snitches in files. Snitches bring their own tokens, many are changed and
 * deleted in one request, and a check changes nothing. Beyond the contract, whose `POST /v1/snitches` ignores a token.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { WireImportCheck } from '../../api/wire.ts';
import { Invalid, type Validation } from '../../core/errors.ts';
import {
  type ImportedInput,
  importedAttribute,
  TOKEN_TAKEN,
  validateImportedSnitch,
} from '../../core/imported-snitch.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readAs } from '../endpoint/body.ts';
import { resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { wireSnitch } from '../endpoint/wire.ts';
import { caseChanges } from './case-schema.ts';
import { changeMany, deleteMany, owner, snitches } from './many-snitches.ts';

const newImport = z.object({
  snitches: snitches.min(1, `can't be blank`),
  owner: owner.default(null),
});

const check = z.object({ snitches: snitches.default([]), case: z.unknown().optional() });

export function importRoutes(app: FastifyInstance, context: RouteContext): void {
  const { store, clock, addresses } = context;
  resource(app, '/imports', {
    POST: async (request) => {
      const wanted = await readAs(request, newImport);
      const { imported, validations } = readSnitches(wanted.snitches);
      if (validations.length > 0) throw new Invalid(validations);
      const batch = { imported, owner: wanted.owner };
      const made = await store.importSnitches(caseOf(request).id, batch, clock());
      return made.map((snitch) => wireSnitch(snitch, addresses().checkInBase));
    },
    PATCH: changeMany(context),
  });
  resource(app, '/imports/delete', { POST: deleteMany(context) });
  // It changes nothing, so that a key that may only read may ask.
  resource(app, '/imports/check', { POST: checkImport(context) }, { audience: 'any' });
}

/** All that is wrong with the snitches and the settings of a case, and how many snitches there is room for. */
function checkImport({ store }: RouteContext) {
  return async (request: FastifyRequest) => {
    const { id } = caseOf(request);
    const wanted = await readAs(request, check);
    const { imported, validations, indexes } = readSnitches(wanted.snitches);
    for (const [position, { token }] of imported.entries()) {
      if (token === null) continue;
      const holder = await store.ownerOfToken(token);
      // A token of this case's own names the snitch that would be changed.
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

function readSnitches(bodies: readonly unknown[]) {
  const imported: ImportedInput[] = [];
  const indexes: number[] = [];
  const validations: Validation[] = [];
  for (const [index, body] of bodies.entries()) {
    const checked = validateImportedSnitch(body);
    for (const { attribute, message } of checked.validations ?? []) {
      validations.push({ attribute: importedAttribute(index, attribute), message });
    }
    if (!checked.value) continue;
    imported.push(checked.value);
    indexes.push(index);
  }
  return { imported, indexes, validations };
}

function faultsOfCase(error: z.ZodError | undefined): Validation[] {
  return (error?.issues ?? []).map(({ path, message }) => ({
    attribute: ['case', ...path].join('.'),
    message,
  }));
}

function wireImported({ token, name, interval, alertType, alertEmail, notes, tags }: ImportedInput) {
  return { token, name, interval, alert_type: alertType, alert_email: alertEmail, notes, tags };
}
