/** Request bodies: JSON whatever their Content-Type says, read by handlers that need one. */
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { Invalid, MalformedJson, type Validation } from '../../core/errors.ts';
import { NOT_AN_OBJECT } from '../../core/validation.ts';
import { tooLarge } from './errors.ts';
import { walkStructure } from './json-structure.ts';

const BODY_LIMIT = 64 * 1024;
const DEPTH_LIMIT = 32;

/**
 * The parsed body, or undefined when there is none.
 *
 * @param beforeValidation what is checked once the body is known to be JSON, before its content is validated
 * @throws MalformedJson when it is not JSON, SnitchError when it is too large, Invalid when it is nested too deeply
 */
export async function readJson(
  request: FastifyRequest,
  beforeValidation?: () => Promise<void>,
): Promise<unknown> {
  const text = decode(await readBody(request.raw));
  const body = text.trim() === '' ? undefined : parse(text);
  await beforeValidation?.();
  if (depthOf(text) > DEPTH_LIMIT) {
    throw new Invalid([{ attribute: 'body', message: `is nested more than ${DEPTH_LIMIT} levels deep` }]);
  }
  return body;
}

/**
 * The fields of an HTML form. Bytes that are not UTF-8 become replacement characters.
 *
 * @throws SnitchError when it is too large
 */
export async function readForm(request: FastifyRequest): Promise<URLSearchParams> {
  return new URLSearchParams((await readBody(request.raw)).toString('utf8'));
}

async function readBody(raw: IncomingMessage): Promise<Buffer> {
  if (Number(raw.headers['content-length'] ?? 0) > BODY_LIMIT) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of wholly(raw)) {
    size += chunk.length;
    if (size > BODY_LIMIT) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The body's chunks. A client that goes away leaves half a body, which is not JSON; that is not the server's error. */
async function* wholly(raw: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* raw as AsyncIterable<Buffer>;
  } catch {
    throw new MalformedJson();
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new MalformedJson();
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MalformedJson();
  }
}

/** How deep arrays and objects are nested in JSON text, counted without building them. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  walkStructure(text, (character) => {
    if (character === '[' || character === '{') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === '}') depth -= 1;
    return true;
  });
  return deepest;
}

/** The body as `schema` requires it, or one validation per failing attribute. */
export async function readAs<Schema extends z.ZodType>(
  request: FastifyRequest,
  schema: Schema,
): Promise<z.output<Schema>> {
  const given = await readJson(request);
  const body = given === undefined ? {} : given;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Invalid([NOT_AN_OBJECT]);
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const byAttribute = new Map<string, Validation>();
  for (const { path, message } of result.error.issues) {
    const attribute = String(path[0] ?? 'body');
    if (!byAttribute.has(attribute)) byAttribute.set(attribute, { attribute, message });
  }
  throw new Invalid([...byAttribute.values()]);
}
