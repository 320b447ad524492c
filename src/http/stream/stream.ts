/** `/v1/stream`: every change of a case's snitches as it commits, as Server-Sent Events. */
import type { FastifyInstance } from 'fastify';
import { SnitchError } from '../../core/errors.ts';
import { assertAdmitted, caseOf } from '../endpoint/auth.ts';
import { resource } from '../endpoint/resource.ts';
import type { RouteContext } from '../endpoint/route-context.ts';
import { Reader, Readers } from './readers.ts';

const EVENT_STREAM = 'text/event-stream; charset=utf-8';

export function streamRoutes(app: FastifyInstance, context: RouteContext): void {
  const readers = new Readers(context);
  app.addHook('preClose', async () => readers.close());
  resource(app, '/stream', {
    GET: async (request, reply) => {
      const { id: caseId } = caseOf(request);
      if (request.method === 'HEAD') return reply.type(EVENT_STREAM).send();
      const reader = new Reader({ caseId, keyId: request.caller?.apiKey.id ?? '', response: reply.raw });
      readers.admit(reader);
      try {
        // The key was valid when the request came, and an admitted reader is ended when its key is revoked. This
        // closes the gap in between.
        await assertAdmitted(context.store, reader.keyId);
      } catch (error) {
        readers.remove(reader);
        throw error;
      }
      if (!readers.has(reader)) throw new SnitchError('service_unavailable', 'Too many streams are open.');
      const lastId = request.headers['last-event-id'];
      reply.hijack();
      reply.raw.writeHead(200, {
        'content-type': EVENT_STREAM,
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      readers.begin(reader, typeof lastId === 'string' ? lastId : null);
      return reply;
    },
  });
}
