/**
 * Answers from cached bytes. What anybody may request as often as they like bypasses the framework if its bytes are
 * cached, so it slows check-ins down as little as possible; the routes answer with the same function.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { OWN_ANSWER } from '../../api/own-answer.ts';

export interface Copy {
  bytes: Buffer;
  /** Null if there is none, or none yet. */
  zipped: Buffer | null;
  etag: string;
  type: string;
  /** Alternating names and values, for every answer. */
  headers: readonly string[];
}

/** @returns false for anything it has no bytes for: that is left to the router */
export type QuickAnswer = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Answers GET and HEAD: with the bytes, or with 304 if the client has them. */
export function answerCopy(request: IncomingMessage, response: ServerResponse, copy: Copy): void {
  const headers = [...OWN_ANSWER, ...copy.headers, 'etag', copy.etag];
  if (hasIt(request.headers['if-none-match'], copy.etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  const isZipped = copy.zipped !== null && takesZipped(request.headers['accept-encoding']);
  const body = isZipped && copy.zipped !== null ? copy.zipped : copy.bytes;
  headers.push('content-type', copy.type, 'content-length', String(body.length));
  if (isZipped) headers.push('content-encoding', 'gzip');
  response.writeHead(200, headers).end(request.method === 'HEAD' ? undefined : body);
}

/** Weak and strong tags count alike (RFC 9110, 13.1.2). */
function hasIt(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const [known, ...given] = [etag, ...header.split(',')].map((one) => one.trim().replace(/^W\//, ''));
  return given.some((one) => one === '*' || one === known);
}

const ZIPPED = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

function takesZipped(header: string | string[] | undefined): boolean {
  return header !== undefined && ZIPPED.test(String(header));
}
