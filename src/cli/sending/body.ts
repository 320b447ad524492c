/** Sends the end of a job's output as the body of a check-in. */

/** How much of a run's output the server keeps, in bytes. */
export const LARGEST_TAIL = 10 * 1024;

/** How many bytes at the start belong to a character that was cut; 0 if this is no UTF-8. */
export function restOfCharacter(bytes: Buffer): number {
  let count = 0;
  while (count < 4 && ((bytes[count] ?? 0) & 0xc0) === 0x80) count += 1;
  return count === 4 ? 0 : count;
}

/** Begins like JSON, so that the server takes it for no form, but does not parse as JSON either. */
const NO_PARAMETERS = Buffer.from('{…}\n');

/**
 * Turns output into a body that the server keeps as output. The server reads a form or JSON with `m`, `s` or `rid` as
 * parameters of the check-in, but what a job prints must never count as parameters.
 */
export function asBody(output: Buffer): Buffer {
  const text = output.toString('utf8');
  if (!looksLikeParameters(text)) return output;
  const room = LARGEST_TAIL - NO_PARAMETERS.length;
  const end = output.length > room ? output.subarray(-room) : output;
  return Buffer.concat([NO_PARAMETERS, end.subarray(restOfCharacter(end))]);
}

const PARAMETERS = ['m', 's', 'rid'];

function looksLikeParameters(text: string): boolean {
  if (!text.trimStart().startsWith('{')) {
    const form = new URLSearchParams(text);
    return PARAMETERS.some((name) => form.has(name));
  }
  try {
    const parsed: unknown = JSON.parse(text);
    return PARAMETERS.some((name) => Object.hasOwn(Object(parsed), name));
  } catch {
    return false;
  }
}
