/** The one place that turns errors into an exit code, and into words on stderr that say what to do next. */
import type { AnswerNotUnderstood, ApiError, Unreachable } from '../../api/client.ts';
import { isJournal, withPriority } from '../../log/journal.ts';
import { printable } from '../../text/printable.ts';
import { EXIT } from './exit-codes.ts';

/** A command cannot be carried out. The message is for the user, and says what to do if that is known. */
export class Failure extends Error {
  override readonly name: string = 'Failure';
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.error) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What was typed cannot be understood. */
export class UsageError extends Failure {
  override readonly name = 'UsageError';
  constructor(message: string) {
    super(message, EXIT.usage);
  }
}

export class NotFoundError extends Failure {
  override readonly name = 'NotFoundError';
  constructor(message: string) {
    super(message, EXIT.notFound);
  }
}

/** There is no key, or it may not be used here. */
export class AuthenticationError extends Failure {
  override readonly name = 'AuthenticationError';
  constructor(message: string) {
    super(message, EXIT.authentication);
  }
}

/** Says on stderr what went wrong. Every line begins with the program's name, and the journal gets it as an error. */
export function reportFailure(error: unknown): number {
  const { lines, exitCode } = describeFailure(error);
  const text = lines.map((line) => `snitch: ${printable(line)}\n`).join('');
  process.stderr.write(isJournal(2, process.env) ? withPriority(text, 'error') : text);
  return exitCode;
}

/** Errors are recognised by name, because a bundle that is loaded later has its own copies of their classes. */
export function describeFailure(error: unknown): { lines: string[]; exitCode: number } {
  if (isNamed<ApiError>(error, 'ApiError')) return describeRefusal(error);
  if (isNamed<Unreachable>(error, 'Unreachable')) {
    return { lines: describeSilence(error), exitCode: EXIT.unreachable };
  }
  if (isNamed<AnswerNotUnderstood>(error, 'AnswerNotUnderstood')) {
    return { lines: [error.message, RIGHT_ADDRESS], exitCode: EXIT.unreachable };
  }
  const { message, exitCode, problems } = error as Partial<Failure> & { problems?: readonly string[] };
  const lines = problems ?? (message ?? String(error)).split('\n');
  return { lines: [...lines], exitCode: exitCode ?? EXIT.error };
}

function isNamed<T extends Error>(error: unknown, name: string): error is T {
  return error instanceof Error && error.name === name;
}

function describeSilence({ message, url, broken }: Unreachable): string[] {
  if (broken) {
    return [
      message,
      'it is not known whether anything was done: look, for instance with `snitch log`, and try again',
    ];
  }
  const late = message.endsWith('no answer in time');
  const advice = late
    ? 'the server, or a firewall before it, keeps silent: look at its log, or allow more time with --timeout 60s'
    : `is \`snitch serve\` running? Another server is named with --url or SNITCH_URL (now ${url})`;
  return [message, advice];
}

const RIGHT_ADDRESS = 'is its address right? It is named with --url or SNITCH_URL';

/** A proxy answers with these when nothing behind it answers, or the server when it cannot work now. */
const UNAVAILABLE = [502, 503, 504];

/** What every version of the server says of a path that it does not have. */
const NO_PATH = 'There is nothing at this path.';
const TOO_OLD = [
  'the server does not know what this command asks for, and nothing was done: it is older than this program, and has to be updated first, or its address has something too much at the end, such as /v1',
  '`snitch doctor` tells which server is meant',
];

/** Mostly a proxy that wants https, or a new name of the server. */
const REDIRECTED =
  'a key is never sent on to where an answer points: if the server is there, give that address with --url, SNITCH_URL or in cli.yaml';

/** A proxy, or the login of a network. */
const AT_THE_DOOR =
  'what stands before the server refuses, and the key was not looked at: is a login needed there, or another address? It is named with --url or SNITCH_URL';

/** Whether the server has no such path, and not only no such thing there. */
export function isTooOld({ status, message }: Pick<ApiError, 'status' | 'message'>): boolean {
  return status === 404 && message === NO_PATH;
}

function describeRefusal(error: ApiError): { lines: string[]; exitCode: number } {
  const { status, message, foreign } = error;
  if (foreign && (status === 401 || status === 403)) {
    return { lines: [message, AT_THE_DOOR], exitCode: EXIT.authentication };
  }
  if (foreign && status === 404) return { lines: [message, RIGHT_ADDRESS], exitCode: EXIT.unreachable };
  if (status === 401) {
    const advice =
      'the key is taken from --api-key-file, SNITCH_API_KEY, SNITCH_API_KEY_FILE, cli.yaml or credentials.yaml: `snitch doctor` tells which';
    return { lines: [message, advice], exitCode: EXIT.authentication };
  }
  if (status === 403) return { lines: [message], exitCode: EXIT.authentication };
  if (isTooOld(error)) return { lines: TOO_OLD, exitCode: EXIT.error };
  if (status === 404) return { lines: [message], exitCode: EXIT.notFound };
  if (status >= 300 && status <= 399) return { lines: [message, REDIRECTED], exitCode: EXIT.error };
  if (status === 422) return { lines: describeValidations(error), exitCode: EXIT.error };
  const again = error.retryAfterS === null ? '' : ` Try again in ${error.retryAfterS} s.`;
  if (UNAVAILABLE.includes(status)) {
    return { lines: [`${message}${again}`], exitCode: EXIT.unreachable };
  }
  return { lines: [`${message}${again}`], exitCode: EXIT.error };
}

function describeValidations({ message, body }: ApiError): string[] {
  const validations = body?.validations ?? [];
  if (validations.length === 0) return [message];
  return validations.map(({ attribute, message: fault }) => `${attribute}: ${fault}`);
}
