/** Changes and deletes many snitches in one request, as commands need that keep them in files. Beyond the contract. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Invalid, type Validation } from '../../core/errors.ts';
import { importedAttribute } from '../../core/imported-snitch.ts';
import { type SnitchInput, validateSnitchChanges } from '../../core/validation.ts';
import { caseOf } from '../endpoint/auth.ts';
import { readAs } from '../endpoint/body.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { wireSnitch } from '../endpoint/wire.ts';
import { line } from './case-schema.ts';

/** Snitches of one request: what the store does in one step, while check-ins wait. */
export const LARGEST_IMPORT = 500;

export const snitches = z
  .array(z.unknown(), { error: 'must be an array of snitches' })
  .max(LARGEST_IMPORT, `has too many snitches (maximum is ${LARGEST_IMPORT})`);

export const tokens = z
  .array(z.string({ error: 'must be an array of tokens' }).max(64, 'must be an array of tokens'), {
    error: 'must be an array of tokens',
  })
  .min(1, `can't be blank`)
  .max(LARGEST_IMPORT, `has too many tokens (maximum is ${LARGEST_IMPORT})`);

/** The name of the file that snitches are kept in; null for none. */
export const owner = line(100).nullable();

const changes = z.object({ snitches: snitches.min(1, `can't be blank`) });
const deletion = z.object({ tokens });

/** All or none of them, each named by its token, and changed as by `PATCH /v1/snitches/<token>`. */
export function changeMany({ store, clock, addresses }: RouteContext) {
  return async (request: FastifyRequest) => {
    const { id } = caseOf(request);
    const wanted = await readAs(request, changes);
    const accepted: { token: string; changes: Partial<SnitchInput> }[] = [];
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
      const checked = validateSnitchChanges(body, present.state);
      if (checked.validations) for (const fault of checked.validations) refuse(fault);
      else accepted.push({ token, changes: checked.value });
    }
    if (validations.length > 0) throw new Invalid(validations);
    const changed = await store.updateSnitches(id, accepted, clock());
    return changed.map((snitch) => wireSnitch(snitch, addresses().checkInBase));
  };
}

function tokenOf(body: unknown): string | null {
  const token = typeof body === 'object' && body !== null ? (body as { token?: unknown }).token : null;
  return typeof token === 'string' ? token : null;
}

/** Those that are gone already are passed over: they are as was wanted. */
export function deleteMany({ store }: RouteContext) {
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const wanted = await readAs(request, deletion);
    await store.deleteSnitches(caseOf(request).id, wanted.tokens);
    return reply.code(204).send();
  };
}
