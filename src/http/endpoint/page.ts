import type { FastifyRequest } from 'fastify';
import { Invalid } from '../../core/errors.ts';
import { parseTimestamp } from '../../core/validation.ts';
import type { Page, Position } from '../../store/page.ts';
import type { Slice } from './lists.ts';
import { query } from './resource.ts';

const DEFAULT_LIMIT = 100;
const LARGEST_LIMIT = 1_000;

/** `?limit=&before=`: `before` is a time, or the id of the last item of the page before. */
export function pageOf(request: FastifyRequest, isId: (text: string) => boolean): Page {
  return { limit: limitOf(query(request, 'limit')), before: beforeOf(query(request, 'before'), isId) };
}

/**
 * Reads the page in slices. Each begins after the last record of the one before.
 *
 * @param read reads records from the store, in its order
 * @param positionOf gives the position right after a record, where the next slice begins
 * @param wire turns a record into what the API shows
 */
export function slicesOf<Listed, Item>(
  page: Page,
  read: (slice: Page) => Promise<readonly Listed[]>,
  positionOf: (record: Listed) => Position,
  wire: (record: Listed) => Item,
) {
  let left = page.limit;
  return async (count: number, position: Position | null): Promise<Slice<Item, Position>> => {
    const limit = Math.min(count, left);
    const records = await read({ ...page, limit, ...(position ? { behind: position } : {}) });
    const last = records.at(-1);
    left -= records.length;
    const isLast = left === 0 || records.length < limit || last === undefined;
    return { items: records.map(wire), next: isLast ? null : positionOf(last) };
  };
}

function limitOf(given: string | undefined): number {
  if (given === undefined) return DEFAULT_LIMIT;
  const limit = /^\d{1,6}$/.test(given) ? Number(given) : 0;
  if (limit >= 1 && limit <= LARGEST_LIMIT) return limit;
  throw new Invalid([{ attribute: 'limit', message: `must be a number from 1 to ${LARGEST_LIMIT}` }]);
}

function beforeOf(given: string | undefined, isId: (text: string) => boolean): Page['before'] {
  if (given === undefined) return null;
  // Ids consist of small letters and digits, even if a client has changed them.
  const id = given.trim().toLowerCase();
  if (isId(id)) return { id };
  // In a query, a plus that is not encoded comes as a space.
  const at = parseTimestamp(given.replace(/(?<=:\d{2}(?:[.,]\d+)?) (?=\d{2}(:?\d{2})?$)/, '+'));
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
