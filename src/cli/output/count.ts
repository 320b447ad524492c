/** Numbers that are typed, and numbers that are shown. */
import { UsageError } from '../failure/failure.ts';

const LARGEST_PAGE = 1_000;

/** The value of `--limit`, up to what the API returns in one answer. @throws UsageError */
export function limitOf(text: string): number {
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > LARGEST_PAGE) {
    throw new UsageError(`--limit: "${text}" is not a number from 1 to ${LARGEST_PAGE}`);
  }
  return limit;
}

/** `1 snitch`, `2 snitches` */
export function countOf(many: number, one: string, several: string): string {
  return `${many} ${many === 1 ? one : several}`;
}
