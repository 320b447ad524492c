/** `POST /v1/checks/mail`: only the daemon has the password of its mail server, so it tries the login itself. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { WireMailCheck } from '../../api/wire.ts';
import { isEmailAddress } from '../../core/validation.ts';
import { readAs } from '../endpoint/body.ts';
import { RETRY_AFTER_S, TryLater } from '../endpoint/errors.ts';
import { resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';

export const newMailCheck = z.object({
  recipient: z
    .string({ error: 'must be an email address' })
    .refine(isEmailAddress, { error: 'is not an email address' })
    .nullish(),
});

/** One check at a time, because each holds a connection for as long as the mail server makes it wait. */
export function mailCheckRoutes(app: FastifyInstance, { checkMail }: RouteContext): void {
  let running = false;
  resource(
    app,
    '/checks/mail',
    {
      POST: async (request): Promise<WireMailCheck> => {
        const { recipient = null } = await readAs(request, newMailCheck);
        if (running) {
          throw new TryLater('rate_limited', 'The mail server is being checked already.', RETRY_AFTER_S);
        }
        running = true;
        try {
          return (await checkMail(recipient)) ?? { server: null, problem: null };
        } finally {
          running = false;
        }
      },
    },
    { audience: 'admin' },
  );
}
