/**
 * `/v1/imports`, for commands that manage snitches in files: snitches can keep their own tokens, and many are
 * made, changed or deleted in one request. Beyond the contract, whose `POST /v1/snitches` ignores a token.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Invalid, type Validation } from '../../core/errors.ts';
import { importedAttribute } from '../../core/imported-snitch.ts';
import type { SnitchFields } from '../../core/snitch.ts';
import { readSnitchChanges } from '../../core/snitch-input.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readAs } from '../endpoint/body.ts';
import { resource } from '../endpoint/resource.ts';
import type { ApiContext } from '../endpoint/route-context.ts';
import { withSilences } from '../endpoint/silenced.ts';
import { wireSnitch } from '../endpoint/wire.ts';
import { checkImport } from './import-check.ts';
import { known, owner, readSnitches, snitches, tokens } from './import-schema.ts';

const newImport = z.object({
  snitches: snitches.min(1, `can't be blank`),
  owner: owner.default(null),
  known,
});
const changes = z.object({ snitches: snitches.min(1, `can't be blank`) });
const deletion = z.object({ tokens });

export function importRoutes(app: FastifyInstance, context: ApiContext): void {
  resource(app, '/imports', { POST: importMany(context), PATCH: changeMany(context) });
  resource(app, '/imports/delete', { POST: deleteMany(context) });
  // It changes nothing, so a read-only key may use it.
  resource(app, '/imports/check', { POST: checkImport(context) }, { audience: 'any' });
}

function importMany({ store, by, clock, addresses }: ApiContext) {
  return async (request: FastifyRequest) => {
    const wanted = await readAs(request, newImport);
    const { id, timezone } = caseOf(request);
    const { imported, validations } = readSnitches(wanted.snitches, { timezone, now: clock() });
    if (validations.length > 0) throw new Invalid(validations);
    const batch = { imported, owner: wanted.owner, known: wanted.known };
    const made = await by(request).importSnitches(id, batch, clock());
    const shown = await withSilences(store, id, made, clock());
    return shown.map((snitch) => wireSnitch(snitch, { ...addresses(), timezone }));
  };
}

/** Changes all of them or none. Each is named by its token, and changed as by `PATCH /v1/snitches/<token>`. */
function changeMany({ store, by, clock, addresses }: ApiContext) {
  return async (request: FastifyRequest) => {
    const { id, timezone } = caseOf(request);
    const wanted = await readAs(request, changes);
    const accepted: { token: string; changes: Partial<SnitchFields> }[] = [];
    const validations: Validation[] = [];
    for (const [index, body] of wanted.snitches.entries()) {
      const token = tokenOf(body);
      const present = token === null ? null : await store.getSnitch(id, token);
      const refuse = ({ attribute, message }: Validation) =>
        validations.push({ attribute: importedAttribute(index, attribute), message });
      if (token === null || !present) {
        refuse({ attribute: 'token', message: 'is of no snitch of the case' });
        continue;
      }
      const checked = readSnitchChanges(body, present.state, { timezone, now: clock() });
      if (checked.validations) for (const fault of checked.validations) refuse(fault);
      else accepted.push({ token, changes: checked.value });
    }
    if (validations.length > 0) throw new Invalid(validations);
    const changed = await by(request).updateSnitches(id, accepted, clock());
    const shown = await withSilences(store, id, changed, clock());
    return shown.map((snitch) => wireSnitch(snitch, { ...addresses(), timezone }));
  };
}

function tokenOf(body: unknown): string | null {
  const token = typeof body === 'object' && body !== null ? (body as { token?: unknown }).token : null;
  return typeof token === 'string' ? token : null;
}

/** Snitches that are already gone are not an error, because that is what was wanted. */
function deleteMany({ by }: ApiContext) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const wanted = await readAs(request, deletion);
    await by(request).deleteSnitches(caseOf(request).id, wanted.tokens);
    return reply.code(204).send();
  };
}
