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

/** There is no key, or it has no right to do this. */
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

function describeSilence({ message, url, broken, cause }: Unreachable): string[] {
  if (broken) {
    return [
      message,
      'it may or may not have been done: check, for instance with `snitch log`, before you try again',
    ];
  }
  if (isOfUnknownAuthority(cause)) return [message, UNTRUSTED];
  const late = message.endsWith('no answer in time');
  const advice = late
    ? 'the server, or a firewall in front of it, does not answer: check its log, or allow more time with --timeout 60s'
    : `is \`snitch serve\` running? Use --url or SNITCH_URL for another server (now ${url})`;
  return [message, advice];
}

function isOfUnknownAuthority(cause: unknown): boolean {
  const { code = '' } = (cause ?? {}) as { code?: unknown };
  return /SELF_SIGNED|UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY/.test(String(code));
}

const UNTRUSTED =
  'no authority that this host trusts has signed the certificate: add the right one to those of the host, or name its file in SSL_CERT_FILE';

const RIGHT_ADDRESS = 'is its address right? Set it with --url or SNITCH_URL';

/** Statuses of a proxy whose server does not answer, or of a server that cannot work now. */
const UNAVAILABLE = [502, 503, 504];

/** What every version of the server answers for an unknown path. */
const NO_PATH = 'There is nothing at this path.';
const TOO_OLD = [
  'the server does not know what this command asks for, and nothing was done: it is older than this program and must be updated first, or its address has something too much at the end, such as /v1',
  '`snitch doctor` shows which server is used',
];

/** Usually the cause is a proxy that wants https, or a new name of the server. */
const REDIRECTED =
  'keys are never sent on to a redirect: if the server is there, give that address with --url, SNITCH_URL or in cli.yaml';

/** A proxy, or the login of a network. */
const AT_THE_DOOR =
  'something in front of the server refuses, and the key was not checked: does it want a login, or is the address wrong? Set it with --url or SNITCH_URL';

/** Whether the server has no such path, rather than no such resource. */
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
      "the key is taken from --api-key-file, SNITCH_API_KEY, SNITCH_API_KEY_FILE, cli.yaml or credentials.yaml: `snitch doctor` shows which; for administrators' commands, SNITCH_ADMIN_KEY and SNITCH_ADMIN_KEY_FILE come before SNITCH_API_KEY";
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
