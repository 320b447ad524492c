/** Secrets that a test made or was given, and the traces that they leave in a text, however they were written there. */
import { randomBytes } from 'node:crypto';

/** A piece of a secret this long is not found by accident, and gives too much of it away. */
const PIECE = 10;

/** Random letters and digits, joined by characters that are escaped in a URL and in JSON. */
export function newPassword(): string {
  const [first, second, third] = [random(), random(), random()];
  return `${first}"${second}@\\/é${third}`;
}

/** Random letters and digits. */
export function newName(): string {
  return random() + random();
}

function random(): string {
  return randomBytes(8).toString('hex');
}

export class KnownSecrets {
  /** By the name of each secret, its text in each form that it may take, and pieces of these. */
  readonly #traces = new Map<string, Record<string, string>>();

  /** @returns the secret */
  add(name: string, secret: string): string {
    if (secret.length < PIECE) throw new Error(`${name} is too short to be looked for: "${secret}"`);
    this.#traces.set(`${name}, ${this.#traces.size}`, { ...formsOf(secret), ...piecesOf(secret) });
    return secret;
  }

  /** Adds the header that the credentials become. */
  addBasic(name: string, user: string, password: string): void {
    this.add(`${name}, as a header`, Buffer.from(`${user}:${password}`).toString('base64'));
  }

  /** What was found in `text`: each secret once, with the form that it had and what stood before it. */
  foundIn(text: string): string[] {
    return [...this.#traces].flatMap(([name, traces]) => {
      const [found] = Object.entries(traces).filter(([, trace]) => text.includes(trace));
      if (!found) return [];
      const [form, trace] = found;
      const at = text.indexOf(trace);
      return [`${name} (${form}): …${text.slice(Math.max(0, at - 100), at + trace.length)}`];
    });
  }
}

/** Every run of letters and digits, cut into pieces: what was hidden only in part is found too. */
function piecesOf(secret: string): Record<string, string> {
  const runs = secret.match(/[A-Za-z0-9]+/g) ?? [];
  const pieces = runs.flatMap((run) => {
    const starts = Array.from({ length: Math.floor(run.length / PIECE) }, (_, index) => index * PIECE);
    return [...starts, run.length - PIECE]
      .filter((start) => start >= 0)
      .map((start) => run.slice(start, start + PIECE));
  });
  return Object.fromEntries(pieces.map((piece, index) => [`piece ${index}`, piece]));
}

function formsOf(secret: string): Record<string, string> {
  const bytes = Buffer.from(secret);
  return {
    'as it is': secret,
    'percent-encoded': encodeURIComponent(secret),
    'as JSON': JSON.stringify(secret).slice(1, -1),
    'as JSON in JSON': JSON.stringify(JSON.stringify(secret)).slice(3, -3),
    'in base64': inBase64(bytes, 0),
    'in base64, one byte in': inBase64(bytes, 1),
    'in base64, two bytes in': inBase64(bytes, 2),
    'in base64url': bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64url'),
    'in hexadecimal': bytes.toString('hex'),
  };
}

/** The secret in base64 after so many other bytes, without the characters that depend on its neighbours. */
function inBase64(bytes: Buffer, before: number): string {
  const whole = Buffer.concat([Buffer.alloc(before), bytes]);
  const text = whole.subarray(0, whole.length - (whole.length % 3)).toString('base64');
  return text.slice(before === 0 ? 0 : 4);
}
