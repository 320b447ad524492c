/** What every answer of a kind has in common. */
import * as assert from 'uvu/assert';
import type { WireError } from '../../src/api/wire.ts';
import type { Validation } from '../../src/core/errors.ts';
import type { Answer } from './client.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** The body of a successful answer, which is JSON. */
export function ok<T>(answer: Answer): T {
  assert.is(answer.status, 200, answer.text);
  assert.is(answer.headers['content-type'], JSON_TYPE);
  return answer.json<T>();
}

export function empty(answer: Answer): void {
  assert.is(answer.status, 204, answer.text);
  assert.is(answer.text, '');
  assert.is(answer.headers['content-type'], undefined);
  assert.is(answer.headers['content-length'], undefined);
}

/** An error as `spec §2` shapes it: a type, a message, and no more. */
export function refused(answer: Answer, status: number, type: string, about = ''): void {
  assert.is(answer.status, status, `${about.slice(0, 80)} ${answer.text.slice(0, 300)}`);
  assert.is(answer.headers['content-type'], JSON_TYPE);
  const body = answer.json<WireError>();
  const keys = type === 'resource_invalid' ? ['type', 'error', 'validations'] : ['type', 'error'];
  assert.equal(Object.keys(body), keys);
  assert.is(body.type, type, about);
  assert.type(body.error, 'string');
  assert.ok(body.error.length > 0);
  if (type !== 'resource_invalid') return;
  const [first] = body.validations ?? [];
  const inWords = `Some values are missing or incorrect: ${first?.attribute} ${first?.message}`;
  assert.is(body.error, inWords, 'many clients show only this line');
}

/** Exactly these validations, in any order. */
export function invalid(answer: Answer, ...expected: Validation[]): void {
  refused(answer, 422, 'resource_invalid', JSON.stringify(expected));
  const found = answer.json<WireError>().validations ?? [];
  const order = (a: Validation, b: Validation) => a.attribute.localeCompare(b.attribute);
  assert.equal([...found].sort(order), [...expected].sort(order));
}

/** One validation for each of these attributes, with whatever message. */
export function invalidOn(answer: Answer, ...attributes: string[]): void {
  refused(answer, 422, 'resource_invalid', attributes.join());
  const found = answer.json<WireError>().validations ?? [];
  assert.equal(found.map(({ attribute }) => attribute).sort(), attributes.sort());
  for (const validation of found) {
    assert.equal(Object.keys(validation), ['attribute', 'message']);
    assert.ok(validation.message.length > 0);
  }
}

export const blank = (attribute: string): Validation => ({ attribute, message: `can't be blank` });

/** Malformed JSON: no body at all (`spec §4` rule 5). */
export function malformed(answer: Answer): void {
  assert.is(answer.status, 400, answer.text);
  assert.is(answer.text, '');
  assert.is(answer.headers['content-length'], '0');
  assert.is(answer.headers['content-type'], undefined);
  assert.is(answer.headers['transfer-encoding'], undefined);
}
