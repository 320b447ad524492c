/** Reads whom a check-in is for from a file or the environment, where no other user can see it. */
import { faultOfReading, readWholeText } from '../../system/reading.ts';

/** Bytes: no token, address or name is longer. */
const LARGEST = 8_192;

const NO_TOKEN = 'no token: give one as the first argument, with --token-file or in SNITCH_TOKEN';

export interface GivenToken {
  /** An address, a token or a name; null if there is none that can be used. */
  given: string | null;
  /** Why there is none, in words. */
  problem: string | null;
}

export interface TokenSources {
  tokenFile?: string | undefined;
  env: NodeJS.ProcessEnv;
}

/** What the file or the environment has, or why it has nothing usable. */
export function hiddenToken({ tokenFile, env }: TokenSources): GivenToken {
  if (tokenFile !== undefined) return tokenIn(tokenFile, '--token-file');
  if (env.SNITCH_TOKEN) return { given: env.SNITCH_TOKEN.trim(), problem: null };
  if (env.SNITCH_TOKEN_FILE) return tokenIn(env.SNITCH_TOKEN_FILE, 'SNITCH_TOKEN_FILE');
  return { given: null, problem: NO_TOKEN };
}

function tokenIn(path: string, source: string): GivenToken {
  try {
    const given = readWholeText(path, LARGEST).trim();
    if (/^[^\p{Cc}]{1,2000}$/u.test(given)) return { given, problem: null };
    return { given: null, problem: `${source}: ${path} must hold one token and nothing else` };
  } catch (error) {
    const fault = faultOfReading(error);
    return { given: null, problem: `${source}: cannot read the token from ${path}: ${fault}` };
  }
}
