import type { FastifyRequest } from 'fastify';
import { Invalid } from '../core/errors.ts';
import { parseTimestamp } from '../core/validation.ts';
import type { Page } from '../store/store.ts';
import { query } from './resource.ts';

const DEFAULT_LIMIT = 100;
const LARGEST_LIMIT = 1_000;

/** `?limit=&before=`: `before` is a time, or the id of the last item of the page before. */
export function pageOf(request: FastifyRequest, isId: (text: string) => boolean): Page {
  return { limit: limitOf(query(request, 'limit')), before: beforeOf(query(request, 'before'), isId) };
}

function limitOf(given: string | undefined): number {
  if (given === undefined) return DEFAULT_LIMIT;
  const limit = /^\d{1,6}$/.test(given) ? Number(given) : 0;
  if (limit >= 1 && limit <= LARGEST_LIMIT) return limit;
  throw new Invalid([{ attribute: 'limit', message: `must be a number from 1 to ${LARGEST_LIMIT}` }]);
}

function beforeOf(given: string | undefined, isId: (text: string) => boolean): Page['before'] {
  if (given === undefined) return null;
  if (isId(given)) return { id: given };
  const at = parseTimestamp(given);
  if (at !== null) return { at };
  throw new Invalid([{ attribute: 'before', message: 'must be an ISO 8601 time, or an id from this list' }]);
}

/** Ids of check-ins and deliveries. */
export function isNumericId(text: string): boolean {
  return /^\d{1,15}$/.test(text);
}

export function isAlertId(text: string): boolean {
  return text.startsWith('alert_');
}
