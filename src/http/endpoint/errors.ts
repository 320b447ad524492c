/** Turns every error into an answer, in this one place (`spec §7`). */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { OWN_ANSWER } from '../../api/own-answer.ts';
import type { WireError } from '../../api/wire.ts';
import { type ErrorType, Invalid, MalformedJson, SnitchError } from '../../core/errors.ts';
import type { RepeatedFailure } from '../../text/repeated-failure.ts';
import { methodOf } from './methods.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Logs requests that were answered with 503. */
    refusals?: RepeatedFailure;
  }
}

export const STATUS_OF: Record<ErrorType, number> = {
  api_key_invalid: 401,
  plan_limit_reached: 402,
  account_on_hold: 402,
  api_key_forbidden: 403,
  origin_forbidden: 403,
  resource_not_found: 404,
  method_not_allowed: 405,
  request_too_large: 413,
  resource_invalid: 422,
  rate_limited: 429,
  internal_error: 500,
  service_unavailable: 503,
};

/** How many seconds a client should wait when the service cannot answer now. */
export const RETRY_AFTER_S = 10;

/** An error that also says when to try again. */
export class TryLater extends SnitchError {
  readonly retryAfterS: number;
  constructor(type: 'rate_limited' | 'service_unavailable', message: string, retryAfterS: number) {
    super(type, message);
    this.retryAfterS = retryAfterS;
  }
}

export function errorBody(error: SnitchError): WireError {
  const body: WireError = { type: error.type, error: error.message };
  return error instanceof Invalid ? { ...body, validations: [...error.validations] } : body;
}

export async function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (error instanceof MalformedJson) return answerMalformed(reply);
  const known = error instanceof SnitchError ? error : frameworkError(error as FastifyError);
  if (!known) return answerUnexpected(error, request, reply);
  if (known.type === 'api_key_invalid') reply.header('www-authenticate', 'Basic realm="snitch"');
  if (known.type === 'request_too_large') reply.header('connection', 'close');
  if (STATUS_OF[known.type] === 503) tellRefused(request, known);
  const retryAfterS = known instanceof TryLater ? known.retryAfterS : RETRY_AFTER_S;
  if (STATUS_OF[known.type] === 503 || known instanceof TryLater) reply.header('retry-after', retryAfterS);
  await reply.code(STATUS_OF[known.type]).send(errorBody(known));
}

/** In an outage every request would get a line: some are written, and the others counted. */
export function tellRefused({ server, id }: FastifyRequest, error: SnitchError): void {
  server.refusals?.failed({ err: error.cause ?? error, request_id: id }, 'warn');
}

async function answerMalformed(reply: FastifyReply): Promise<void> {
  await reply.code(400).header('content-length', 0).send();
}

/** What the HTTP library refuses before a handler runs. */
function frameworkError(error: FastifyError): SnitchError | null {
  if (error.statusCode === 413) return tooLarge();
  if (error.statusCode === 404)
    return new SnitchError('resource_not_found', 'There is nothing at this path.');
  if (error.statusCode === 503)
    return new TryLater('service_unavailable', 'The service is stopping.', RETRY_AFTER_S);
  return null;
}

export function tooLarge(): SnitchError {
  return new SnitchError('request_too_large', 'The request body is larger than 64 KiB.');
}

const STATUS_OF_FAULT: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/**
 * Gives a status to bytes that are no request, or to a request that did not arrive in time, and closes the connection.
 */
export function refuseConnection({ code }: ConnectionError, socket: Socket): void {
  const status = STATUS_OF_FAULT[code] ?? 400;
  if (code !== 'ECONNRESET' && socket.writable) {
    const headers = `${OWN_ANSWER.join(': ')}\r\nConnection: close\r\nContent-Length: 0`;
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n\r\n`);
  }
  socket.destroy();
}

async function answerUnexpected(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  request.log.error({ err: error, request_id: request.id, method: methodOf(request.raw) }, 'request failed');
  await reply
    .code(500)
    .header('x-request-id', request.id)
    .send({
      type: 'internal_error',
      error: `Something went wrong on our side. Try again; the log has more under request ${request.id}.`,
    });
}
