/**
 * How `snitch doctor` checks the mail server. Its password may be a credential that only the service gets, so the
 * daemon is asked to try the login. If it cannot be asked, the login is tried from here.
 */
import { ApiError, createClient, Unreachable } from '../../api/client.ts';
import type { WireMailCheck } from '../../api/wire.ts';
import type { Config } from '../../config/config.ts';
import { MINUTE } from '../../text/durations.ts';
import { type ConnectionFlags, findConnection } from '../command/connection.ts';
import { AuthenticationError, describeFailure } from '../failure/failure.ts';
import { asRoot } from './as-root.ts';
import { type Finding, failure, ok, warning } from './findings.ts';

const CHECK = 'email';
const SMTP_REMEDY = 'check smtp.url, smtp.from, and the mail server';
const OFF_REMEDY = 'set smtp.url and smtp.from, or rely on webhooks and channels alone';

/** A mail server may take its time. The daemon's own limit for the check is a little lower. Milliseconds. */
const ANSWER_WITHIN = MINUTE;

/**
 * @param config null if it cannot be used
 * @param recipient of a test mail; null for none
 * @returns null if nothing could be checked
 */
export async function checkEmail(
  flags: ConnectionFlags,
  config: Config | null,
  recipient: string | null,
): Promise<Finding | null> {
  const asked = await askDaemon(flags, recipient);
  if ('server' in asked) return describeAnswer(asked, config, recipient);
  return config === null ? null : tryFromHere(config, { recipient, ...asked });
}

interface NotAsked {
  /** Why the daemon did not try, as a clause. */
  because: string;
}

async function askDaemon(
  flags: ConnectionFlags,
  recipient: string | null,
): Promise<WireMailCheck | NotAsked> {
  try {
    const connection = findConnection(flags, 'admin');
    const answer = await createClient({ ...connection, timeoutMs: ANSWER_WITHIN }).checkMail(recipient);
    return isMailCheck(answer) ? answer : { because: 'what answered is not a snitch server' };
  } catch (error) {
    if (error instanceof AuthenticationError) return { because: 'there is no admin key here to ask it with' };
    if (error instanceof Unreachable) return { because: 'it does not answer' };
    if (error instanceof ApiError) return { because: `it refused: ${error.message}` };
    return { because: describeFailure(error).lines[0] ?? 'it could not be asked' };
  }
}

/** What answers at the address may be anything, so its answer is checked. */
function isMailCheck(answer: unknown): answer is WireMailCheck {
  if (typeof answer !== 'object' || answer === null) return false;
  const { server, problem } = answer as Partial<Record<keyof WireMailCheck, unknown>>;
  return [server, problem].every((value) => value === null || typeof value === 'string');
}

function describeAnswer(
  { server, problem }: WireMailCheck,
  config: Config | null,
  recipient: string | null,
): Finding {
  const here = config?.smtp ? new URL(config.smtp.url).hostname.replace(/^\[|\]$/g, '') : null;
  const reload = `if the daemon reads this configuration: ${asRoot('systemctl reload snitch')}`;
  if (server === null) {
    return here === null
      ? warning(CHECK, 'is off', OFF_REMEDY)
      : failure(
          CHECK,
          `the daemon runs without email, but the configuration read here names ${here}`,
          reload,
        );
  }
  if (problem !== null) return failure(CHECK, problem, SMTP_REMEDY);
  if (here !== null && here !== server.replace(/:\d+$/, '')) {
    return warning(
      CHECK,
      `${server} accepts the daemon, but the configuration read here names ${here}`,
      reload,
    );
  }
  return ok(CHECK, `${server} accepts the daemon${sentTo(recipient)}`);
}

function sentTo(recipient: string | null): string {
  return recipient === null ? '' : `, and accepted a test mail to ${recipient}`;
}

async function tryFromHere(
  { smtp }: Config,
  { recipient, because }: NotAsked & { recipient: string | null },
): Promise<Finding> {
  if (smtp === null) return warning(CHECK, 'is off in the configuration read here', OFF_REMEDY);
  const { username, password } = new URL(smtp.url);
  if (username && !password) {
    const remedy = `make sure that the daemon runs, then ${asRoot('snitch doctor')}`;
    return warning(CHECK, `not tried: only the daemon has the password of smtp.url, and ${because}`, remedy);
  }
  const { checkMail } = await import('../../delivery/smtp/mail-check.ts');
  try {
    const { server, problem } = await checkMail(smtp, recipient, Date.now());
    if (problem !== null) return failure(CHECK, problem, SMTP_REMEDY);
    return ok(
      CHECK,
      `${server} accepts us${sentTo(recipient)} (tried from here and not by the daemon: ${because})`,
    );
  } catch (error) {
    const [message = ''] = describeFailure(error).lines;
    return failure(CHECK, message, 'correct it, then run `snitch config check`');
  }
}
