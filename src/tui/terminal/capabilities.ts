/** What the terminal can show, as far as the environment says. */
import { signsFor, UNICODE_SIGNS } from '../../text/signs.ts';
import { ASCII, UNICODE } from '../model/glyphs.ts';
import type { Look } from '../view/look.ts';

export function lookOf(env: NodeJS.ProcessEnv): Look {
  const hasColor = !env.NO_COLOR && env.TERM !== 'dumb';
  return { glyphs: signsFor(env) === UNICODE_SIGNS ? UNICODE : ASCII, styling: hasColor ? 'color' : 'plain' };
}

/** The sequence that copies a text to the clipboard of the terminal, even over SSH (OSC 52). */
export function clipboardSequence(text: string, env: NodeJS.ProcessEnv): string {
  const sequence = `\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`;
  // GNU screen passes on only what is wrapped for it, while tmux understands the sequence itself.
  return env.STY ? `\u001bP${sequence}\u001b\\` : sequence;
}
